"""The command line: finds the command, and turns whatever it raises into one line and a status.

A command is the function `<name>` of the module `takt.commands.<name>`, with its arguments as
takt.arguments reads them, its help as docstring and a string EXAMPLES beside it. The module's own
docstring is its line in the list of commands: "takt <name>: Do this or that." The module is
imported only when the command is called.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import takt
from takt import arguments, built, libraries
from takt.arguments import Exit
from takt.errors import UserError
from takt.text import console
from takt.text.formatting import printable

# Exit statuses. 0: done, or the answer is yes.
ANSWER_IS_NO = 1
BAD_INPUT = 2
INTERNAL_ERROR = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED = 128 + 2  # as the shell reports SIGINT …
READER_GONE = 128 + 13  # … and SIGPIPE

# Errors of writes to standard output; an error of a named file carries the file's name.
_OUTPUT_FAULTS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}

HELP = "See, bound and explain the end-to-end latency of a ROS 2 system."
EPILOG = (
    "Begin with 'takt demo', or with your own robot: 'takt record', then 'takt latency'. "
    "'takt help COMMAND' explains a command, docs/glossary.md the words. Exit status: 0 done, 1 "
    "the answer is no (a goal is missed, a check failed), 2 bad usage or bad input."
)

GROUPS = {
    "See": [
        "demo",
        "record",
        "snapshot",
        "info",
        "flow",
        "latency",
        "watch",
        "report",
        "serve",
        "export",
    ],
    "Bound": ["model", "analyze", "budget"],
    "Compare": ["compare", "fleet", "summarize", "diff"],
    "Control": ["manage", "status", "shape", "apply", "share", "bridge", "handoff"],
    "Run": ["plan", "run"],
    "Tools": ["doctor", "help", "man", "completion"],
    "For experiments": ["simulate", "generate", "graph", "experiment"],
}
"""Commands by what they are for, in the order in which people meet them. Each is in one."""


def commands() -> dict[str, str]:
    """Every command with its line in the list, read from the modules without importing them."""
    found = {}
    for module in sorted(Path(__file__).parent.glob("commands/[a-z]*.py")):
        name = module.stem
        with module.open(encoding="utf-8") as file:
            first = file.readline()
        start = f'"""takt {name}: '
        assert first.startswith(start), f"{module.name}: must begin with {start}"
        found[name] = first.removeprefix(start).rstrip().removesuffix('"""')
    return found


class _Unloaded(click.Command):
    """A command in the list whose module has not been imported yet."""

    def make_context(self, info_name: str | None, *args: Any, **kwargs: Any) -> click.Context:
        return load(str(self.name)).make_context(info_name, *args, **kwargs)


class _Group(click.Group):
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, str(self.commands[name].help)) for name in names])


def check_name(name: str) -> None:
    """click.UsageError if there is no such command, as if it had been called."""
    group = command_group()
    with click.Context(group, info_name="takt") as context:
        group.resolve_command(context, [name])


def examples(name: str) -> str:
    """The examples of a command, a line each."""
    text: str = importlib.import_module(f"takt.commands.{name}").EXAMPLES
    return textwrap.dedent(text).strip()


def load(name: str) -> click.Command:
    """The command, with its module imported."""
    module = importlib.import_module(f"takt.commands.{name}")
    # \b keeps the lines of the paragraph as they are.
    epilog = "\b\nExamples:\n" + textwrap.indent(examples(name), "  ")
    return arguments.command(name, getattr(module, name), epilog)


def command_group() -> click.Group:
    return _Group(
        "takt",
        {name: _Unloaded(name, help=summary) for name, summary in commands().items()},
        invoke_without_command=True,
        subcommand_metavar="COMMAND [ARGS]...",
        callback=_takt,
        params=[click.Option(["--version"], is_flag=True, help="Print the version.")],
        help=HELP,
        epilog=EPILOG,
        context_settings=arguments.SETTINGS,
    )


@click.pass_context
def _takt(context: click.Context, version: bool) -> None:
    if version:
        print(f"takt {takt.__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def main(given: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit status. Never raises."""
    console.replace_closed_streams()
    console.replace_what_streams_cannot_show()
    try:
        status = _run(list(sys.argv[1:] if given is None else given))
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader of our output has closed it.
        _drop_output()
        return READER_GONE
    except (KeyboardInterrupt, click.Abort):
        _complain("interrupted")
        return INTERRUPTED
    except Exception as error:
        if os.environ.get("TAKT_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        return _explain(error)


def _run(given: list[str]) -> int:
    group = command_group()
    try:
        with group.make_context("takt", given) as context:
            group.invoke(context)
    except Exit as request:
        return request.exit_code
    return 0


def _explain(error: Exception) -> int:
    native = sys.modules.get("takt_native")
    if isinstance(error, UserError) or (native and isinstance(error, native.InputError)):
        _complain(str(error))
        return BAD_INPUT
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "takt"
        message = error.format_message().rstrip(".")
        _complain(f"{message}; see '{command} --help'")
        return BAD_INPUT
    if isinstance(error, ModuleNotFoundError) and error.name in built.PARTS:
        _complain(str(built.NotBuiltError(error.name)))
        return BAD_INPUT
    if isinstance(error, OSError) and error.errno in _OUTPUT_FAULTS and error.filename is None:
        _drop_output()
        _complain(f"standard output: cannot be written: {error.strerror}")
        return BAD_INPUT
    lacking = libraries.wrong()
    if lacking is not None:
        _complain(lacking)
        return BAD_INPUT
    _complain(
        f"internal error: {type(error).__name__}: {error}; "
        "please report it with what TAKT_DEBUG=1 prints"
    )
    return INTERNAL_ERROR


def _drop_output() -> None:
    """Discards further output, so that the interpreter's last flush cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(message: str) -> None:
    # One line, whatever a file name or an exception holds.
    print("takt: " + printable(" ".join(message.split())), file=sys.stderr)
