"""Recordings and summaries for other tools."""
