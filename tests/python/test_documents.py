"""Documents from anywhere are read, or refused with the field's name."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot import changed, raw
from takt import documents
from takt.documents import Bounds, Measurement, Model
from takt.errors import UserError


def test_each_format_is_recognised() -> None:
    for name, kind in (("model", Model), ("bounds", Bounds), ("measurement", Measurement)):
        assert isinstance(documents.parse_any(json.dumps(raw(name)), name), kind)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x: line 1, column 1: not valid JSON; is this a takt/model document?"),
        ("[]", "x: document: must be an object, is array"),
        ('{"format": "takt/plan", "version": 1}', 'x: format: "takt/plan" is not known; one of'),
        ('{"format": "takt/model", "version": 2}', "x: version: 2 is not supported; this version"),
        ("[" * 100_000, "x: nested more than 64 deep; it is not a model"),
    ],
)
def test_other_texts_are_refused(text: str, message: str) -> None:
    with pytest.raises(UserError) as refusal:
        documents.parse_any(text, "x")
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("value", [-1, 1.5, "1", None, 2**63, True])
def test_a_wrong_count_is_named(value: object) -> None:
    document = changed(raw("measurement"), "callbacks", 2, "count", value=value)
    with pytest.raises(UserError, match=r"^x: callbacks\[2\]\.count: must be "):
        documents.parse_any(json.dumps(document), "x")


def test_unknown_fields_are_kept() -> None:
    document = changed(raw("model"), "callbacks", 0, "colour", value="red")
    callback = documents.parse(Model, json.dumps(document), "x").callbacks[0]
    assert callback.json()["colour"] == "red"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.sampled_from(list(documents.KINDS)), st.sampled_from(list(raw("measurement"))), JSON)
def test_any_json_is_read_or_refused_as_a_users_mistake(
    kind: str, field: str, value: object
) -> None:
    document = {"version": 1, field: value, "format": kind}
    with contextlib.suppress(UserError):
        documents.parse_any(json.dumps(document), "x")
