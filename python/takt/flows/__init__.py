"""`takt/flow` documents for people, and beside bounds."""
