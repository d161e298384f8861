"""Recordings: made, labelled, put together, and their events and objects as tables."""
