"""Takt as a command of ROS 2's command line: `ros2 takt record …` is `takt record …`."""

from __future__ import annotations

import argparse

from ros2cli.command import CommandExtension

from takt import cli


class TaktCommand(CommandExtension):
    """See, bound and explain the end-to-end latency of a ROS 2 system."""

    def add_arguments(self, parser: argparse.ArgumentParser, cli_name: str) -> None:
        # Takt parses all arguments itself, even --help: with this prefix none looks like an option.
        parser.prefix_chars = "\0"
        parser.add_argument("arguments", nargs=argparse.REMAINDER)

    def main(self, *, parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
        return cli.main(args.arguments)
