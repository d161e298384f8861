"""What parts of a model mean to Python is what libtakt says: held against definitions here."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import takt_design
import takt_native

Json = dict[str, Any]

KINDS = ["single_threaded", "multi_threaded", "fixed_priority"]
FEATURES = {name: chance for name, _, _, chance in takt_design.model_features()}


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(50, 100)), max_size=6), st.integers(1, 4))
def test_reservations_are_served_where_the_gfb_test_says_so(
    reservations: list[tuple[int, int]], processors: int
) -> None:
    densities = [Fraction(runtime, deadline) for runtime, deadline in reservations]
    limit = processors - (processors - 1) * max(densities, default=Fraction(0))
    assert takt_native.served_globally(reservations, processors) == (sum(densities) <= limit)


def on_which_it_rests(model: Json, chain: list[str]) -> set[str]:
    """By the definition, in words of its own: grows until nothing is added."""
    callbacks = {callback["id"]: callback for callback in model["callbacks"]}
    executors = {callbacks[name]["executor"] for name in chain}
    along = set(itertools.pairwise(chain))
    links = {e.get("link") for e in model["edges"] if (e["from"], e["to"]) in along} - {None}
    while True:
        sending = [
            edge
            for edge in model["edges"]
            if edge.get("link") in links
            or (
                callbacks[edge["to"]]["executor"] in executors
                and callbacks[edge["to"]]["kind"] not in ("timer", "event_source")
            )
        ]
        grown = executors | {callbacks[edge["from"]]["executor"] for edge in sending}
        used = links | ({edge.get("link") for edge in sending} - {None})
        if (grown, used) == (executors, links):
            return executors
        executors, links = grown, used


def test_a_bound_rests_on_what_sends_to_its_chain() -> None:
    for seed in range(60):
        text = takt_design.generate(seed, KINDS, (2, 4), (4, 14), 4, (5, 60), FEATURES)
        model = json.loads(takt_native.parse_model(text, "generated")[0])
        found = [set(executors) for executors in takt_native.influencing(text, "generated")]
        assert found == [on_which_it_rests(model, chain["callbacks"]) for chain in model["chains"]]
