"""A store in a notebook: its tables as frames of polars.

    import takt

    fleet = takt.load_store("store/?version=1.4")
    fleet.figures.group_by("robot", "name").agg(polars.col("value").median())
    fleet.query("select robot, count(*) from runs group by robot")

Tables are read anew each time, as others may add to the store meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from takt.fleet import commands, queries
from takt.fleet.store import Selection, Store

if TYPE_CHECKING:
    import polars

Json = dict[str, Any]


class Fleet:
    """The runs of a store or of a selection of it, STORE?robot=r7. What cannot be read is a
    UserError of one line.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._selection = Selection.read(path)
        self._store = Store(self._selection.path).check()

    def __repr__(self) -> str:
        return f"takt.load_store({self.path!r})"

    @property
    def runs(self) -> polars.DataFrame:
        """Every run, with its labels and where it was made."""
        return self.query("select * from runs")

    @property
    def figures(self) -> polars.DataFrame:
        """What `takt compare` compares of each run."""
        return self.query("select * from figures")

    @property
    def parts(self) -> polars.DataFrame:
        """What the mean latency of each chain is made of, in each run."""
        return self.query("select * from parts")

    @property
    def histograms(self) -> polars.DataFrame:
        """The times of each run's chains, callbacks and links, counted by buckets."""
        return self.query("select * from histograms")

    def query(self, sql: str) -> polars.DataFrame:
        """The answer to SQL over these tables."""
        return queries.frame(self._store, self._selection, sql)

    def report(self) -> Json:
        """What `takt fleet report` says: the `takt/fleet` document."""
        return commands.report(self.path)
