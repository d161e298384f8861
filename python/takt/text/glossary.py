"""The terms that glossary.md explains, which are not terms of ROS 2."""

from __future__ import annotations

from importlib import resources


def entries() -> dict[str, str]:
    """Every term with its meaning, both without markup."""
    text = (resources.files("takt.text") / "glossary.md").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines():
        if line.startswith("| **"):
            _, word, meaning, _ = line.split("|")
            found[_plain(word)] = _plain(meaning)
    return found


def _plain(text: str) -> str:
    """Markdown without bold, code and the targets of links."""
    for mark in ("**", "`", "*"):
        text = text.replace(mark, "")
    while "](" in text:
        before, _, rest = text.partition("](")
        start = before.rindex("[")
        text = before[:start] + before[start + 1 :] + rest.partition(")")[2]
    return text.strip()
