"""Published experiments that are reproduced: one folder each under experiments/, with a README.md
that says what is compared and what differs, and a run.py whose function `run` returns the rows.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from takt import loopback
from takt.errors import UserError

RATIO = "×"
"""The unit of a quotient of two like figures: what it says is how far it is from 1."""

ROOT = Path(__file__).parents[3] / "experiments"


@dataclass(frozen=True)
class Row:
    """A number of the publication beside ours. Words stand for a claim without a number."""

    what: str
    published: float | str | None
    """Only what is printed in the document, or what its text claims."""
    ours: float | str
    unit: str = ""
    place: str = ""
    """Where it is printed: table, figure, equation or section. Empty only if nothing is published.
    """
    expected: float | str | None = None
    """What ours must be near, or the limit that it must keep, by another way than the document:
    computed from printed parameters, exact, or a bound.
    """
    meaning: float | str | None = None
    """What published words mean as a figure or a limit, so that ours can be held against it: the
    figure without aging for "as without", "> 0" for "some". takt.reproduction reads it.
    """
    cannot: str = ""
    """Why ours cannot be measured here, if it cannot, such as for want of hardware."""
    figure: str = ""
    """The figure of the document, as in its list, beside which `samples` or `spans` are drawn."""
    samples: tuple[float, ...] = ()
    """What ours was found from, one by one in `unit`, to be drawn as a distribution: `drawn`."""
    spans: tuple[tuple[str, float, float], ...] = ()
    """A schedule to be drawn: who ran, from when to when, in `unit`."""

    def __post_init__(self) -> None:
        """ValueError if a published figure has no place or a place no published figure, or if
        nothing is drawn for a figure or something for none.
        """
        if (self.published is None) != (not self.place):
            raise ValueError(f"{self.what}: a published figure and its place belong together")
        if bool(self.figure) != bool(self.samples or self.spans):
            raise ValueError(f"{self.what}: a figure and what is drawn for it belong together")
        if self.meaning is not None and not isinstance(self.published, str):
            raise ValueError(f"{self.what}: only published words have another meaning")


Rows = list[Row]


def drawn(values: Iterable[float]) -> tuple[float, ...]:
    """Values for `Row.samples`: in order, at most QUANTILES of many, the extremes among them."""
    ordered = sorted(values)
    if len(ordered) <= QUANTILES:
        return tuple(ordered)
    last = len(ordered) - 1
    return tuple(ordered[round(n * last / (QUANTILES - 1))] for n in range(QUANTILES))


QUANTILES = 201
"""With a point at each half per cent, nobody sees a step in a curve."""


@dataclass(frozen=True)
class Experiment:
    name: str
    folder: Path

    @property
    def title(self) -> str:
        """The first line of its README, without the mark of a heading."""
        with (self.folder / "README.md").open(encoding="utf-8") as readme:
            return readme.readline().lstrip("# ").strip()

    def run(self, full: bool = False) -> Rows:
        """Runs the experiment; `full`: as published. UserError if it has no shorter form."""
        run = self._function()
        if not full:
            return run()
        if not _has_full(run):
            raise UserError(f"{self.name} is always run in full; leave out --full")
        return run(full=True)

    @property
    def has_full(self) -> bool:
        """Whether it also has a longer form, as published."""
        return _has_full(self._function())

    def _function(self) -> Callable[..., Rows]:
        run: Callable[..., Rows] = self.module().run
        return run

    def module(self) -> ModuleType:
        """Its run.py, for experiments that run the same models in another way."""
        name = f"takt_experiment_{self.name.replace('-', '_')}"
        # Loaded as a package, so that run.py may import files beside it.
        spec = importlib.util.spec_from_file_location(
            name, self.folder / "run.py", submodule_search_locations=[str(self.folder)]
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module


def _has_full(run: Callable[..., Rows]) -> bool:
    return "full" in inspect.signature(run).parameters


def all_experiments() -> list[Experiment]:
    """By name. UserError if this is an installation without them."""
    if not ROOT.is_dir():
        raise UserError(
            f"{ROOT}: no experiments here; they come with the project's source, not with an "
            "installed takt"
        )
    folders = sorted(path.parent for path in ROOT.glob("*/run.py"))
    return [Experiment(folder.name, folder) for folder in folders]


def find(name: str) -> Experiment:
    """UserError if there is none of that name."""
    experiments = all_experiments()
    for experiment in experiments:
        if experiment.name == name:
            return experiment
    known = ", ".join(experiment.name for experiment in experiments)
    raise UserError(f'there is no experiment "{name}"; one of {known}')


def recorded_numbers(backend: str, program: Sequence[str]) -> list[int]:
    """The JSON list of numbers that a program prints while it is recorded, or is not recorded if
    `backend` is empty. The first tenth, in which caches are cold, is left out. Raises
    CalledProcessError.
    """
    with tempfile.TemporaryDirectory(prefix="takt-experiment-") as scratch:
        printed = Path(scratch) / "printed"
        inner = ["sh", "-c", 'out=$1; shift; exec "$@" > "$out"', "sh", str(printed), *program]
        takt = [sys.executable, "-m", "takt", "record", "--backend", backend]
        record = [*takt, "-o", str(Path(scratch) / "trace"), "--"] if backend else []
        subprocess.run(
            [*record, *inner],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=loopback.environment(),
        )
        numbers: list[int] = json.loads(printed.read_text())
    return numbers[len(numbers) // 10 :]
