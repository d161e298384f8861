"""Programs: their environment, start, supervision and end, and what they share."""
