"""What a package installs beside the program: shell completion and manual pages, made of the same
descriptions as --help.

    python -m takt.installation /usr/share     # each file where shells and man look for it
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import takt
from takt import cli, files
from takt.arguments import ExplainedArgument

SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True)
class Option:
    names: tuple[str, ...]
    value: str | None
    """The name of its value; None: it has none."""
    choices: tuple[str, ...]
    """All values that it may have, if they are known."""
    help: str


@dataclass(frozen=True)
class Command:
    name: str
    summary: str
    usage: str
    description: str
    arguments: tuple[tuple[str, str], ...]
    """Names and meanings."""
    choices: tuple[str, ...]
    """All values of the first argument, if they are known."""
    options: tuple[Option, ...]
    examples: str


def commands() -> list[Command]:
    """All commands. Imports them."""
    return [_command(name, summary) for name, summary in cli.commands().items()]


def completion(shell: str) -> str:
    """The completion script for one of SHELLS: commands, options and their values, else files."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands())


def manual(command: Command | None) -> str:
    """The manual page, in troff, of a command, or of takt itself."""
    return "\n".join(_page(command) if command else _main_page(commands())) + "\n"


def write(share: Path) -> list[Path]:
    """Writes everything below a folder like /usr/share, and returns the files."""
    written = {
        share / "bash-completion" / "completions" / "takt": completion("bash"),
        share / "zsh" / "site-functions" / "_takt": completion("zsh"),
        share / "fish" / "vendor_completions.d" / "takt.fish": completion("fish"),
        share / "man" / "man1" / "takt.1": manual(None),
    }
    for command in commands():
        written[share / "man" / "man1" / f"takt-{command.name}.1"] = manual(command)
    for path, text in written.items():
        files.write_text(str(path), text)
    return list(written)


# Descriptions


def _command(name: str, summary: str) -> Command:
    loaded = cli.load(name)
    with loaded.make_context(f"takt {name}", [], resilient_parsing=True) as context:
        usage = loaded.get_usage(context).partition("Usage: ")[2]
        options: list[Option] = []
        arguments: list[tuple[str, str]] = []
        choices: tuple[str, ...] = ()
        for parameter in loaded.get_params(context):
            if isinstance(parameter, ExplainedArgument):
                title = parameter.metavar or parameter.name.upper()
                if not arguments:
                    known = cli.commands() if title == "[COMMAND]" else ()
                    choices = tuple(getattr(parameter.type, "choices", known))
                arguments.append((title, " ".join(parameter.explanation.split())))
            else:
                options.append(_option(parameter))
    return Command(
        name,
        summary,
        " ".join(usage.split()),
        loaded.help or "",
        tuple(arguments),
        choices,
        tuple(options),
        cli.examples(name),
    )


def _option(parameter: Any) -> Option:
    is_flag = parameter.is_flag or parameter.is_bool_flag or parameter.name == "help"
    value = None if is_flag else parameter.metavar or "VALUE"
    # Words in capitals, such as MILLISECONDS|auto, stand for values.
    words = value.split("|") if value and "|" in value else ()
    choices = tuple(word for word in words if word == word.lower())
    names = tuple(sorted(parameter.opts, key=lambda name: (name.startswith("--"), name)))
    return Option(names, value, choices, " ".join((parameter.help or "").split()))


# Completion


def _bash(known: list[Command]) -> str:
    cases, values, firsts = [], [], []
    for command in known:
        words = " ".join(name for option in command.options for name in option.names)
        cases.append(f'    {command.name}) words="{words}" ;;')
        if command.choices:
            firsts.append(f'    2:{command.name}:*) words="{" ".join(command.choices)}" ;;')
        for option in command.options:
            pattern = "|".join(f"{command.name}:{name}" for name in option.names)
            if option.choices:
                choices = " ".join(option.choices)
                values.append(
                    f'    {pattern}) COMPREPLY=($(compgen -W "{choices}" -- "$word")); return ;;'
                )
            elif option.value is not None:
                values.append(f"    {pattern}) return ;;")
    names = " ".join(command.name for command in known)
    return "\n".join(
        (
            "# Completion of takt for bash, made by takt completion bash",
            "_takt() {",
            '  local word="${COMP_WORDS[COMP_CWORD]}" words command="${COMP_WORDS[1]}"',
            "  COMPREPLY=()",
            '  if [ "$COMP_CWORD" -eq 1 ]; then',
            f'    COMPREPLY=($(compgen -W "{names} --help --version" -- "$word"))',
            "    return",
            "  fi",
            "  # No word of our own: bash completes names of files.",
            '  case "$command:${COMP_WORDS[COMP_CWORD-1]}" in',
            *values,
            "  esac",
            '  case "$COMP_CWORD:$command:$word" in',
            '    *:-*) case "$command" in',
            *cases,
            "    esac ;;",
            *firsts,
            "    *) return ;;",
            "  esac",
            '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
            "}",
            "complete -o default -F _takt takt",
            "",
        )
    )


def _zsh(known: list[Command]) -> str:
    def quoted(text: str) -> str:
        return (
            text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
        )

    lines = [
        "#compdef takt",
        "# Completion of takt for zsh, made by takt completion zsh",
        "_takt() {",
    ]
    lines += ["  local -a commands=("]
    lines += [f"    '{command.name}:{quoted(command.summary)}'" for command in known]
    lines += [
        "  )",
        "  if (( CURRENT == 2 )); then",
        "    _describe command commands",
        "    return",
    ]
    lines += ["  fi", '  local command="${words[2]}"', "  shift words", "  (( CURRENT-- ))"]
    lines += ['  case "$command" in']
    for command in known:
        lines.append(f"    {command.name}) _arguments -s \\")
        for option in command.options:
            value = ""
            if option.choices:
                value = f":{quoted(option.value or '')}:({' '.join(option.choices)})"
            elif option.value is not None:
                value = f":{quoted(option.value)}:_files"
            lines += [f"      '*{name}[{quoted(option.help)}]{value}' \\" for name in option.names]
        if command.choices:
            lines.append(f"      '1:{command.name}:({' '.join(command.choices)})' \\")
        lines.append("      '*:file:_files' ;;")
    return "\n".join((*lines, "  esac", "}", '_takt "$@"', ""))


def _fish(known: list[Command]) -> str:
    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = ["# Completion of takt for fish, made by takt completion fish"]
    for command in known:
        described = f"-a {command.name} -d {quoted(command.summary)}"
        lines.append(f"complete -c takt -f -n __fish_use_subcommand {described}")
    for command in known:
        used = f"complete -c takt -n '__fish_seen_subcommand_from {command.name}'"
        if command.choices:
            first = (
                f"__fish_seen_subcommand_from {command.name}; "
                "and test (count (commandline -opc)) -eq 2"
            )
            lines.append(
                f"complete -c takt -f -n {quoted(first)} -a {quoted(' '.join(command.choices))}"
            )
        for option in command.options:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                for name in option.names
            )
            value = ""
            if option.choices:
                value = f" -x -a {quoted(' '.join(option.choices))}"
            elif option.value is not None:
                value = " -r"
            lines.append(f"{used} {names}{value} -d {quoted(option.help)}")
    return "\n".join((*lines, ""))


# Manual pages


def _page(command: Command) -> Iterator[str]:
    yield from _head(f"takt-{command.name}", command.summary)
    yield from (".SH SYNOPSIS", _troff(command.usage), ".SH DESCRIPTION")
    paragraphs = command.description.strip().split("\n\n")
    for i, paragraph in enumerate(paragraphs):
        yield from ([] if i == 0 else [".PP"])
        yield _troff(" ".join(paragraph.split()))
    if command.arguments:
        yield ".SH ARGUMENTS"
    for name, meaning in command.arguments:
        yield from (".TP", f"\\fI{_troff(name)}\\fR", _troff(meaning))
    yield ".SH OPTIONS"
    for option in command.options:
        names = ", ".join(f"\\fB{_troff(name)}\\fR" for name in option.names)
        value = f" \\fI{_troff(option.value)}\\fR" if option.value else ""
        yield from (".TP", names + value, _troff(option.help))
    yield from (".SH EXAMPLES", ".nf", *map(_troff, command.examples.splitlines()), ".fi")
    yield from _tail([f"takt-{other}" for other in cli.commands() if other != command.name])


def _main_page(known: list[Command]) -> Iterator[str]:
    yield from _head("takt", "see, bound and explain the end-to-end latency of a ROS 2 system")
    yield from (
        ".SH SYNOPSIS",
        "\\fBtakt\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...",
        ".SH COMMANDS",
    )
    for command in known:
        yield from (".TP", f"\\fBtakt\\-{_troff(command.name)}\\fR(1)", _troff(command.summary))
    yield from _tail([f"takt-{command.name}" for command in known])


def _head(name: str, summary: str) -> Iterator[str]:
    yield f'.TH {name.upper()} 1 "" "Takt {takt.__version__}" "Takt"'
    text = summary[0].lower() + summary[1:].rstrip(".")
    yield from (".SH NAME", f"{_troff(name)} \\- {_troff(text)}")


def _tail(others: list[str]) -> Iterator[str]:
    yield from (
        ".SH EXIT STATUS",
        "0: done. 1: the answer is no (a goal is missed, a check failed).",
    )
    yield "2: bad usage or bad input."
    yield from (".SH SEE ALSO", ", ".join(f"\\fB{_troff(name)}\\fR(1)" for name in others))


def _troff(text: str) -> str:
    """Text that troff prints as it is."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in escaped)
    return "\\&" + escaped if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m takt.installation DIRECTORY")
    for path in write(Path(sys.argv[1])):
        print(path)
