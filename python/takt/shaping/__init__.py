"""Latency shaping: from a chain's latencies to a plan, and from the plan to running programs.

profile measures or simulates the latencies, plans chooses the slots (libtakt/shaping) and says what
they do, gates puts gates into models, picture draws, enactment carries a plan out.
"""
