"""The arguments of a command, declared in the signature of its function and read by click.

    def topics(
        traces: Annotated[list[str], Argument(metavar="TRACE...", help="Recordings.")],
        json: Annotated[bool, Option("--json", help="Print one JSON document.")] = False,
    ) -> None:

Types are bool (an option without a value), int, float, str, Path, an Enum of strings, a list of
these, and each `| None`. A parameter without a default is required.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import click
from click import BadParameter
from click.exceptions import Exit

from takt.text import times

__all__ = ["Argument", "BadParameter", "Exit", "ExplainedArgument", "Option", "command"]

SETTINGS = {"help_option_names": ["-h", "--help"]}
UNITS = {"SECONDS": 1_000_000_000}
"""Nanoseconds of a number alone, where an option's value is such a time."""


class _Declared:
    def __init__(
        self,
        *names: str,
        metavar: str | None = None,
        help: str,  # noqa: A002
        min: float | None = None,  # noqa: A002
        max: float | None = None,  # noqa: A002
        callback: Callable[[Any], Any] | None = None,
        show_default: bool = True,
    ) -> None:
        """`min` and `max`: the range of a number, both ends included. `callback`: is given the
        value and returns what takes its place, or raises BadParameter.
        """
        self.names = names
        self.metavar = metavar
        self.help = help
        self.min = min
        self.max = max
        self.callback = callback
        self.show_default = show_default


class Option(_Declared):
    """An option. Without names it is called like its parameter: --like-this, and --no-like-this if
    it has no value. "--on/--off" are the names of both.
    """


class Argument(_Declared):
    """A positional argument: its place on the command line says which one it is."""


def command(name: str, function: Callable[..., None], epilog: str) -> click.Command:
    """The command that calls `function`, whose docstring is its help."""
    signature = inspect.signature(function, eval_str=True)
    parameters = [_Parameter(parameter) for parameter in signature.parameters.values()]

    def call(**values: Any) -> None:
        function(**{each.name: each.value(values[each.name]) for each in parameters})

    return _Command(
        name,
        callback=call,
        params=[each.as_click() for each in parameters],
        help=inspect.getdoc(function),
        epilog=epilog,
        context_settings=SETTINGS,
    )


class _Parameter:
    """A parameter of a command's function."""

    def __init__(self, parameter: inspect.Parameter) -> None:
        self.name = parameter.name
        kind, self._declared = get_args(parameter.annotation)
        self._default = parameter.default
        if get_origin(kind) in (Union, types.UnionType):
            kind, _ = get_args(kind)
        self._is_list = get_origin(kind) is list
        self._kind: type = get_args(kind)[0] if self._is_list else kind

    def as_click(self) -> click.Parameter:
        declared = self._declared
        required = self._default is inspect.Parameter.empty
        common: dict[str, Any] = {
            "required": required,
            "metavar": declared.metavar,
            "type": self._type(),
        }
        if not required:  # else click takes the default for a value that was given
            default = self._default
            common["default"] = default.value if isinstance(default, Enum) else default
        if declared.callback is not None:
            common["callback"] = lambda _context, _parameter, value: declared.callback(value)
        if isinstance(declared, Argument):
            return ExplainedArgument(
                [self.name], nargs=-1 if self._is_list else 1, explanation=declared.help, **common
            )
        return click.Option(
            [*(declared.names or self._names()), self.name],
            multiple=self._is_list,
            is_flag=self._kind is bool,
            show_default=declared.show_default,
            help=declared.help,
            **common,
        )

    def _names(self) -> tuple[str]:
        name = self.name.replace("_", "-")
        return (f"--{name}/--no-{name}" if self._kind is bool else f"--{name}",)

    def value(self, given: Any) -> Any:
        """Turns the value that click has read into the one that the function takes."""
        if self._is_list:
            values = [self._kind(each) for each in given]
            return values or (None if self._default is None else [])
        return given if given is None or not issubclass(self._kind, Enum) else self._kind(given)

    def _type(self) -> click.ParamType[Any]:
        declared = self._declared
        limited = declared.min is not None or declared.max is not None
        if issubclass(self._kind, Enum):
            return click.Choice([each.value for each in self._kind])
        if self._kind is int:
            return click.IntRange(declared.min, declared.max) if limited else click.INT
        if declared.metavar in UNITS:
            return times.Span(UNITS[declared.metavar], declared.min, declared.max)
        if self._kind is float:
            return times.Finite(declared.min, declared.max)
        if self._kind is Path:
            return click.Path(path_type=Path)
        return click.BOOL if self._kind is bool else click.STRING


class ExplainedArgument(click.Argument):
    """An argument with a help, which click has had since 8.5 only."""

    def __init__(self, names: list[str], *, explanation: str, **settings: Any) -> None:
        super().__init__(names, **settings)
        self.explanation = explanation

    def make_metavar(self, *_: object) -> str:
        name = str(self.metavar)
        return name if self.required or name.startswith("[") else f"[{name}]"

    def record(self) -> tuple[str, str]:
        """Its name and what the help says of it."""
        return str(self.metavar), self.explanation + ("  [required]" if self.required else "")


class _Command(click.Command):
    """A command whose help also explains its arguments, and whose mistakes name it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        arguments = [each for each in self.get_params(ctx) if isinstance(each, ExplainedArgument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl([each.record() for each in arguments])
        super().format_options(ctx, formatter)
