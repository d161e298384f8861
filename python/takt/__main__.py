"""Runs the command line, or says in one line which libraries it lacks."""

from __future__ import annotations

import signal
import sys

from takt import libraries


def main() -> int:
    # Python's own handler would show where in the imports Ctrl-C came.
    is_pythons = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_pythons:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        from takt import cli
    except ImportError:
        wrong = libraries.wrong()
        if wrong is None:
            raise
        print(f"takt: {wrong}", file=sys.stderr)
        return 2
    if is_pythons:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
