"""The acts of the story, in their order, and the files that they leave."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from takt import files, inputs
from takt.doctor import scheduling
from takt.doctor.check import State
from takt.documents import Chain, Model
from takt.errors import UserError
from takt.story import beside_load, proposal, recorded, sentences
from takt.text import console
from takt.text.terminal import Part, show, styled, width, wrapped
from takt.trials.scheduling_trials import goals_text
from takt.verdicts import tables, verdict

Json = dict[str, Any]

MOST_COLUMNS = 100
"""A sentence has several lines rather than longer ones."""

AS_IT_IS, AS_PROPOSED = "as it is", "as proposed"
BY_DEFAULT, MANAGED = "beside a load, by default", "beside a load, takt manage"
"""The names of the acts in tables."""


class Story:
    """The story of one robot, act by act. It keeps recordings and proposals, because later acts
    compare with them. Each act prints its part on standard output, unless `quiet`, and its progress
    on standard error.
    """

    def __init__(self, robot: Model, seconds: float, output: Path, *, quiet: bool) -> None:
        """`seconds`: how long each recording takes; `output`: the folder of the results."""
        self._robot = beside_load.unreserved(robot)
        self._seconds, self._output, self._quiet = seconds, output, quiet
        self._chapters = 0
        self._privilege = scheduling.deadline()
        self._chain: Chain
        self._recorded_robot: Json = {}
        self._recordings: dict[str, recorded.Recorded] = {}
        self._runs: dict[str, beside_load.Run] = {}
        self._proposal: proposal.Proposal | None = None
        self._plan: proposal.Plan | None = None

    def begin(self) -> None:
        """It is late, and why."""
        self._tell(sentences.robot(self._robot))
        before = self._record(AS_IT_IS, "before", self._robot)
        chain = self._chain = before.latest()
        self._chapter("Is it late?")
        self._tell(*sentences.lateness(before, chain))
        in_time = before.latencies[chain.id] and not before.late(chain)
        self._chapter("Where does its time go?" if in_time else "Why?")
        self._tell(before.why(chain), *sentences.above_its_bound(before))

    def improve(self) -> None:
        """What Takt proposes, and what comes of it."""
        before = self._recordings[AS_IT_IS]
        self._chapter("What helps?")
        model = proposal.prompt(before.evaluation.text)
        self._proposal = proposal.find(model, self._chain)
        now = proposal.bound_of(model, self._chain)
        self._tell(
            sentences.slow_messages(before.evaluation.model),
            sentences.proposed(self._proposal, self._chain, now),
        )
        if self._proposal is not None:
            recorded_model = before.evaluation.model
            self._robot = proposal.applied(self._robot, self._proposal, recorded_model)
        reserve = self._privilege.state is State.OK
        planned = self._plan = proposal.plan(model, self._proposal, reserve=reserve)
        self._tell(sentences.planned(planned, None if reserve else self._privilege.detail))
        if self._proposal is None and not planned.has_reservations:
            return
        robot = self._robot
        if planned.has_reservations:
            robot = proposal.with_reservations(robot, planned.model.parsed())
        after = self._record(AS_PROPOSED, "after", robot, planned.model)
        self._chapter("Done, and recorded again")
        self._show(sentences.table(self._rows(), self._chain), "")
        self._tell(
            *sentences.lateness(after, self._chain),
            after.why(self._chain) if after.late(self._chain) else None,
            *sentences.refused(after),
            *sentences.kept(after),
        )

    def load(self) -> None:
        """The same beside other programs."""
        self._chapter("And beside other programs?")
        wanted = beside_load.goals(self._recordings[AS_IT_IS].evaluation.model)
        may_manage = self._privilege.state is State.OK
        if not may_manage:
            self._tell("takt manage is left out, for the same reason as reservations.")
        try:
            console.say("Running it beside processes that only compute, by the default scheduler")
            run = self._runs[BY_DEFAULT] = beside_load.by_default(
                self._robot, wanted, self._output / "by_default" / "nodes.jsonl"
            )
            self._tell(*sentences.by_default(run))
            if not may_manage:
                return
            console.say(f"Running it beside {run.processes} of them, under takt manage")
            managed = self._runs[MANAGED] = beside_load.managed(
                self._robot, wanted, run.processes, self._output / "managed" / "nodes.jsonl"
            )
        except UserError as reason:
            self._tell(f"This could not be shown here: {reason}.")
            return
        for chain, fate in managed.fates().items():
            self._tell(*sentences.managed(chain, fate, managed))

    def end(self, takt: str) -> None:
        """The figures side by side, the files, and what to do next with the command `takt`."""
        self._chapter("All of it")
        lines = self._rows()
        self._show(sentences.table(lines, self._chain), "")
        page = self._page(sentences.comparison(lines, self._chain))
        self._write(page)
        here = _relative(self._output)
        if page:
            self._tell(f"Look at it: open {here}/report.html")
        self._tell(f"Recordings, models and figures: {here}")
        self._show("", *sentences.next_steps(takt, f"{here}/goals.yaml"))

    def inexplicable(self) -> bool:
        """Whether a measured latency is above its bound, and nothing that was measured says why."""
        managed = self._runs.get(MANAGED)
        return any(
            one.is_inexplicable(judged)
            for one in self._recordings.values()
            for judged in one.verdicts
        ) or any(not fate.explained for fate in (managed.fates().values() if managed else ()))

    def document(self) -> Json:
        """The takt/demo document."""
        return {
            "format": "takt/demo",
            "version": 1,
            "chain": self._chain.id,
            "goal": self._chain.goal,
            "recordings": {
                title: verdict.document(
                    one.evaluation.title,
                    one.evaluation.analysis,
                    one.verdicts,
                    one.evaluation.measurement,
                )
                for title, one in self._recordings.items()
            },
            "proposal": asdict(self._proposal) if self._proposal else None,
            "budget": self._plan.budget if self._plan else None,
            "runs": {title: run.document() for title, run in self._runs.items()},
        }

    def _record(
        self, title: str, folder: str, robot: Json, expected: inputs.ModelText | None = None
    ) -> recorded.Recorded:
        console.say(f"Running it {title}, and recording it for {self._seconds:g} s")
        found = recorded.record(robot, self._seconds, self._output / folder, expected)
        self._recorded_robot = robot
        self._recordings[title] = found
        for warning in (*found.evaluation.warnings, *([found.lost] if found.lost else [])):
            console.say(f"takt: warning: {warning}")
        return found

    def _rows(self) -> list[list[str]]:
        return sentences.rows(self._recordings, self._runs, self._chain)

    def _page(self, comparison: Json) -> str | None:
        """The report. Where the viewer is not built the demo goes on without it."""
        before = self._recordings[AS_IT_IS]
        try:
            from takt.report import view

            traces, name = [str(before.trace)], before.evaluation.model.name
            asking = tables.Asking("TRACE", "FILE")
            return view.page_of(
                traces, before.evaluation, before.verdicts, name, comparison, asking
            )
        except UserError as reason:
            console.say(f"No report.html is written: {reason}")
            return None

    def _write(self, page: str | None) -> None:
        goals = goals_text(beside_load.goals(self._recordings[AS_IT_IS].evaluation.model))
        for file, content in (
            ("robot.json", json.dumps(self._recorded_robot, indent=1) + "\n"),
            ("goals.yaml", goals),
            ("demo.json", json.dumps(self.document(), indent=1) + "\n"),
            *([("report.html", page)] if page else []),
        ):
            files.write_text(str(self._output / file), content)

    def _chapter(self, title: str) -> None:
        self._chapters += 1
        self._show("", styled(f"{self._chapters}. {title}", "bold"))

    def _tell(self, *lines: str | None) -> None:
        """Sentences; those that do not apply are None."""
        most = min(width(), MOST_COLUMNS)
        self._show(*(part for line in lines if line for part in wrapped(line, most)))

    def _show(self, *parts: Part) -> None:
        if not self._quiet:
            show(*parts)
            sys.stdout.flush()  # what follows takes a while


def _relative(path: Path) -> Path:
    """The path as a person would type it here."""
    try:
        return path.resolve().relative_to(Path.cwd())
    except ValueError:
        return path
