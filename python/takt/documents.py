"""The documents that reports and verdicts read: JSON texts to typed values.

The types follow from the schemas (takt.document_types). A takt/model document is read by libtakt,
whichever command reads it, so that every mistake in it has one line.
"""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

import takt_native
from takt.document_types import *  # noqa: F403
from takt.document_types import Bounds, Measurement, Model
from takt.errors import UserError

KINDS: dict[str, type[Model] | type[Bounds] | type[Measurement]] = {
    "takt/model": Model,
    "takt/bounds": Bounds,
    "takt/measurement": Measurement,
}

AnyDocument = TypeVar("AnyDocument", bound=BaseModel)


def parse_any(text: str, source: str) -> Model | Bounds | Measurement:
    """Reads a document of whichever format it says it has. UserError names the field."""
    try:
        name = takt_native.document_format(text, source)
    except takt_native.InputError as error:
        raise UserError(str(error)) from error
    # Most documents are models, so a document without a format is read as one.
    if name is not None and name not in KINDS:
        known = ", ".join(KINDS)
        raise UserError(f'{source}: format: "{name}" is not known; one of {known}')
    return parse(KINDS[name or "takt/model"], text, source)


def parse(kind: type[AnyDocument], text: str, source: str) -> AnyDocument:
    """Reads a document of one format; a model gets its defaults. UserError names the field."""
    if issubclass(kind, Model):
        return kind.model_validate_json(_normalised(text, source)[0])
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = _path(first["loc"])
        raise UserError(f"{source}: {field}{': ' if field else ''}{first['msg']}") from error


def parse_model(text: str, source: str) -> tuple[Model, list[str]]:
    """Reads a model, with a line for each thing that is accepted but looks wrong. UserError names
    the field.
    """
    normalised, warnings = _normalised(text, source)
    return Model.model_validate_json(normalised), warnings


def to_json(document: BaseModel) -> str:
    """The text of a document, with the fields that it had when it was read."""
    return document.model_dump_json(by_alias=True, exclude_unset=True, indent=1) + "\n"


def _normalised(text: str, source: str) -> tuple[str, list[str]]:
    try:
        return takt_native.parse_model(text, source)
    except takt_native.InputError as error:
        raise UserError(str(error)) from error


def _path(location: tuple[int | str, ...]) -> str:
    """("chains", 2, "goal") as chains[2].goal."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).lstrip(".")
