"""What a plan presumes of the supply of a model's executors.

A simulation has one run's places for the budgets of reservations, and another run has others. So
the last slot of a chain waits for the bound of its latency, which holds for all places.
"""

from __future__ import annotations

from collections.abc import Sequence

from takt import documents, pipeline
from takt.documents import Chain, Model, ShapedChain
from takt.shaping import gates
from takt.text.formatting import duration


def vary(model: Model) -> bool:
    """Whether the supply of some executor comes at other places in another run."""
    return any(one.supply.kind in ("reservation", "fixed_priority") for one in model.executors)


def bounds(model: Model, source: str, chains: Sequence[str]) -> dict[str, int]:
    """The bounds of these chains' latencies from the beginning of a period, as far as there are
    any. Empty where supplies do not vary.
    """
    if not vary(model):
        return {}
    # Of latencies, whichever time the goals of the chains are about.
    plain = tuple(Chain(id=one.id, callbacks=one.callbacks) for one in model.chains)
    found = pipeline.analyze(documents.to_json(model.replace(chains=plain)), source)
    waiting = set(found.queueing_joins)
    certain = {}
    for chain in found.chains:
        callbacks = gates.chain_of(model, chain.id).callbacks
        if chain.id not in chains or chain.bound is None or waiting & set(callbacks):
            continue
        begun = gates.callback_of(model, callbacks[0]).activation
        certain[chain.id] = chain.bound + (begun.jitter if begun else 0)
    return certain


def presumed(model: Model, source: str, bound: int | None) -> str | None:
    """What the plan presumes of supplies. `bound`: the one that the last slot waits for.
    `source` of the latencies: simulation or trace.
    """
    if not vary(model) or bound is not None:
        return None
    run = "recording" if source == "trace" else "simulation"
    return f"reservations place their budgets as in the {run}"


def sentence(chain: ShapedChain) -> str:
    """What people read of it behind the sentence on the executions that were seen."""
    if chain.bound is not None:
        return (
            f" None can take longer than {duration(chain.bound)}, the bound, wherever reservations "
            "place their budgets: the last slot waits for that."
        )
    return f" All of this presumes that {chain.presumes}." if chain.presumes else ""
