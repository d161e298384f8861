"""Many recordings: what each comes down to, and what changed between two groups of them.

histogram   distributions that can be put together
summary     the `takt/summary` document of a recording
runs        the summaries that the arguments of a command stand for
statistics  what differs between two groups of runs by more than chance
comparison  the `takt/comparison` document: what became slower, and why
page        that document for people, in a terminal or a pull request

store         many runs in a folder or an object store
tables        the rows that a run has in the tables of a store
ingestion     adds runs to a store, by Dask where that helps
queries       SQL over the tables
change_points since which version something is different
fleet_report  the `takt/fleet` document: versions, changes, robots that are unlike the others
fleet_page    that document as a page
commands      what `takt fleet` does with them
notebook      a store as frames of polars
"""
