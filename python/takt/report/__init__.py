"""The page of a recording or a model, with bounds, goals and verdicts: the viewer's (`web/`).

`page` puts documents into words, `modelled` shows a model where there is no recording to look at,
and `view` completes the page of either. Reports read documents, never internals.
"""
