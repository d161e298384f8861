"""takt completion: Print the shell's completion script."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from takt import installation
from takt.arguments import Argument, Option
from takt.text import console

EXAMPLES = """
takt completion bash > /tmp/takt && source /tmp/takt                    this shell
takt completion bash > ~/.local/share/bash-completion/completions/takt
takt completion zsh > ~/.zfunc/_takt                                with ~/.zfunc in fpath
takt completion fish > ~/.config/fish/completions/takt.fish
"""


class Shell(str, Enum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    shell: Annotated[Shell, Argument(metavar="bash|zsh|fish", help="For which shell.")],
    json: Annotated[bool, Option("--json", help="Print the script in one JSON document.")] = False,
) -> None:
    """Print a script that completes takt's commands, options and their values with Tab.

    Packages of Takt install it; this is for those who run it from its sources.
    """
    script = installation.completion(shell.value)
    if json:
        console.print_json(
            {"format": "takt/completion", "version": 1, "shell": shell.value, "script": script}
        )
    else:
        print(script, end="")
