"""Latency shaping: from a chain's latencies to a plan, and from the plan to running programs.

profile measures or simulates the latencies, plans chooses the slots (libtakt/shaping) and says what
they do, gates puts gates into models, loops follows external loops, picture draws. gate_process,
remapping and dispatcher enact a plan.
"""
