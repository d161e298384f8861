"""Runs the command line, or says in one line which libraries it lacks."""

from __future__ import annotations

import sys

from takt import libraries


def main() -> int:
    try:
        from takt import cli
    except ImportError:
        wrong = libraries.wrong()
        if wrong is None:
            raise
        print(f"takt: {wrong}", file=sys.stderr)
        return 2
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
