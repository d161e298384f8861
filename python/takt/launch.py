"""A launch action that records what a launch file starts, from the first event to the last.

    from launch import LaunchDescription
    from launch_ros.actions import Node
    from takt.launch import Record

    def generate_launch_description():
        return LaunchDescription([
            Record(output="robot-trace", backend="ring"),
            Node(package="demo_nodes_cpp", executable="talker"),
        ])

In XML: <takt_record output="robot-trace" backend="ring"/>, before the nodes. In a group with a
scope of its own, the action records that group alone.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from launch import Action, LaunchContext, SomeSubstitutionsType
from launch.event_handlers import OnProcessExit, OnProcessStart, OnShutdown
from launch.events.process import ProcessExited, ProcessStarted
from launch.frontend import Entity, Parser, expose_action
from launch.logging import get_logger
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions
from launch.utilities.type_utils import normalize_typed_substitution, perform_typed_substitution

import takt_native
from takt.errors import UserError
from takt.recordings.recorder import DEFAULT_EVENTS, Running, lost, preloaded, traced
from takt.text.formatting import data_size


@expose_action("takt_record")
class Record(Action):
    """Records the processes that are started after it. The trace is complete when launch has shut
    down and they have ended. A recording that fails meanwhile ends, and says so; they go on.
    """

    def __init__(
        self,
        *,
        output: SomeSubstitutionsType | None = None,
        backend: SomeSubstitutionsType = "lttng",
        events: Iterable[SomeSubstitutionsType] = DEFAULT_EVENTS,
        kernel: bool | SomeSubstitutionsType = False,
        **options: Any,
    ) -> None:
        """output: the new trace; default: takt-trace-DATE-TIME. backend: lttng, ring or ebpf.
        events: names, which may end in '*'. kernel: also the scheduler's events. All as in
        `takt record`.
        """
        super().__init__(**options)
        self._output = normalize_to_list_of_substitutions(output or [])
        self._backend = normalize_to_list_of_substitutions(backend)
        self._events = [normalize_to_list_of_substitutions(event) for event in events]
        self._kernel = normalize_typed_substitution(kernel, bool)
        self._running: Running | None = None
        self._trace = Path()
        self._processes: set[int] = set()
        """Those that were started after this action and have not ended."""
        self._log = get_logger("takt")

    @classmethod
    def parse(cls, entity: Entity, parser: Parser) -> tuple[type[Record], dict[str, Any]]:
        """Reads XML and YAML: attributes have the same names, events have blanks between them."""
        _, options = super().parse(entity, parser)
        for name, kind in (("output", str), ("backend", str), ("kernel", bool)):
            if (value := entity.get_attr(name, data_type=kind, optional=True)) is not None:
                options[name] = parser.parse_if_substitutions(value)
        if (events := entity.get_attr("events", optional=True)) is not None:
            options["events"] = [parser.parse_substitution(event) for event in events.split()]
        return cls, options

    def execute(self, context: LaunchContext) -> None:
        """Begins to record. Raises UserError or takt_native.InputError, which end the launch."""
        backend = perform_substitutions(context, self._backend)
        output = perform_substitutions(context, self._output)
        self._trace = Path(output or time.strftime("takt-trace-%Y%m%d-%H%M%S"))
        events = [perform_substitutions(context, event) for event in self._events]
        libraries = preloaded(backend, events)
        recording = takt_native.Recording(
            backend,
            str(self._trace),
            events,
            kernel=perform_typed_substitution(context, self._kernel, bool),
            only_started=True,
        )
        self._running = Running(recording, self._trace, self._log.error)
        self._running.look_by_itself()
        # Completes the trace also if launch ends without a shutdown.
        atexit.register(self._complete)
        context.environment.update(traced(context.environment, recording, libraries))
        self._log.info(f"recording to {self._trace}")

        ended = context.asyncio_loop.create_future()

        def end_with_the_last() -> None:
            if context.is_shutdown and not self._processes and not ended.done():
                ended.set_result(None)
                self._complete()

        def started(event: ProcessStarted, _: LaunchContext) -> None:
            self._processes.add(event.pid)

        def exited(event: ProcessExited, _: LaunchContext) -> None:
            self._processes.discard(event.pid)
            end_with_the_last()

        def shut_down(*_: object) -> None:
            context.add_completion_future(ended)
            end_with_the_last()

        context.register_event_handler(OnProcessStart(on_start=started))
        context.register_event_handler(OnProcessExit(on_exit=exited))
        context.register_event_handler(OnShutdown(on_shutdown=shut_down))

    def _complete(self) -> None:
        atexit.unregister(self._complete)
        if self._running is None:
            return
        running, self._running = self._running, None
        try:
            status = running.stop()
        except (UserError, takt_native.InputError) as error:
            self._log.error(str(error))
            return
        say = self._log.warning if any(status.losses.values()) else self._log.info
        say(f"recorded {data_size(status.bytes)}, {lost(status.losses)}: {self._trace}")
