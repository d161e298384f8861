"""Models that are run as real nodes, and experiments made of such runs."""
