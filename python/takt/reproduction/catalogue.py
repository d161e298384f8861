"""The tables and figures of the documents, one by one (`experiments/documents.json`)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum
from typing import Any

from takt.trials import experiments

FILE = "documents.json"

_PLACE = re.compile(r"\b(Table|Figure) (A?\.?\d+(?:\.\d+)?)")


class Kind(Enum):
    EXPERIMENT = "experiment"
    """An experiment has figures of it."""
    INPUT = "input"
    """An experiment takes it as it is printed."""
    ILLUSTRATION = "illustration"
    """It shows no result."""
    MISSING = "missing"
    """It could be here and is not."""
    CANNOT = "cannot"
    """It needs what is not here."""


@dataclass(frozen=True)
class Item:
    name: str
    """ "Table 4.1"."""
    what: str
    """What it shows, in our words."""
    kind: Kind
    experiment: str = ""
    lacks: str = ""
    """What of it is not here, though an experiment has the rest."""
    why: str = ""
    """Why it is missing, or cannot be here."""


@dataclass(frozen=True)
class Document:
    id: str
    author: str
    title: str
    year: str
    experiments: tuple[str, ...]
    items: tuple[Item, ...]
    numbers: str = ""
    """How it numbers its tables and figures, if that is not plain."""


def read() -> list[Document]:
    """The documents, with their tables and figures in order. KeyError, ValueError if the file is
    not what this module takes it for.
    """
    text = (experiments.ROOT / FILE).read_text(encoding="utf-8")
    return [_document(each) for each in json.loads(text)["documents"]]


def _document(found: dict[str, Any]) -> Document:
    items = tuple(
        Item(each.pop("item"), each.pop("what"), Kind(each.pop("kind")), **each)
        for each in found.pop("items")
    )
    return Document(items=items, experiments=tuple(found.pop("experiments")), **found)


def places(place: str) -> list[str]:
    """The tables and figures that the place of a row names: "section 5, with Figure 5.12a" is of
    Figure 5.12.
    """
    return [f"{kind} {number}" for kind, number in _PLACE.findall(place)]
