"""The documents that reports and verdicts read: JSON texts to typed values.

The types follow from the schemas (takt.documents.types). A takt/model document is read by libtakt,
whichever command reads it, so that every mistake in it has one line.
"""

from __future__ import annotations

import json

import takt_native
from takt.documents.typed import AnyDocument, Document, FieldError
from takt.documents.types import *  # noqa: F403
from takt.documents.types import Bounds, Measurement, Model
from takt.errors import UserError

KINDS: dict[str, type[Model] | type[Bounds] | type[Measurement]] = {
    "takt/model": Model,
    "takt/bounds": Bounds,
    "takt/measurement": Measurement,
}


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
        text, _ = _normalised(text, source)
    try:
        return kind.read(json.loads(text))
    except (FieldError, ValueError) as error:
        raise UserError(f"{source}: {error}") from error
    except RecursionError as error:
        raise UserError(f"{source}: nested too deeply; is it a document?") from error


def parse_model(text: str, source: str) -> tuple[Model, list[str]]:
    """Reads a model, with a line for each thing that is accepted but looks wrong. UserError names
    the field.
    """
    normalised, warnings = _normalised(text, source)
    return Model.read(json.loads(normalised)), warnings


def to_json(document: Document) -> str:
    """The text of a document, with the fields that it had when it was read."""
    return json.dumps(document.json(), ensure_ascii=False, indent=1) + "\n"


def _normalised(text: str, source: str) -> tuple[str, list[str]]:
    try:
        return takt_native.parse_model(text, source)
    except takt_native.InputError as error:
        raise UserError(str(error)) from error
