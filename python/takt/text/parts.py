"""What the latency of a message consists of, in words: libtakt/flow's list of stages."""

from __future__ import annotations

import takt_native

PARTS = {kind: words for _, kind, words in takt_native.STAGES}
"""The kinds of parts in tables and summaries, in the order of their numbers in recordings."""

STAGES = {name: words for name, _, words in takt_native.STAGES}
"""The same in `takt/flow` documents, which have longer names for some."""

STAGE_OF = {kind: name for name, kind, _ in takt_native.STAGES}
"""The stage of `takt/flow` documents for each kind."""
