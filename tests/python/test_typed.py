"""Values of typed JSON."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest

from takt.documents.typed import EMPTY, Between, Document, FieldError, Key
from takt.documents.types import Edge, LinkBound


class Point(Document):
    """Two numbers."""

    x: float
    y: float = 0.5


class Shape(Document):
    """Some of every type."""

    kind: Literal["line", "curve"] = "line"
    points: tuple[Point, ...] = ()
    width: Annotated[int, Between(1, 10)] | None = None
    source: Annotated[str, Key("from")]
    counts: dict[str, int] = EMPTY
    closed: bool = False
    extra: dict[str, Any] = EMPTY


def test_fields_have_their_types_and_defaults() -> None:
    shape = Shape.read({"from": "a", "points": [{"x": 1}, {"x": 2, "y": 3}], "counts": {"n": 4}})
    assert shape.source == "a"
    assert shape.points == (Point(x=1.0), Point(x=2.0, y=3.0))
    assert (shape.points[0].y, shape.points[1].y) == (0.5, 3.0)
    assert (shape.kind, shape.width, shape.closed) == ("line", None, False)
    assert shape.counts == {"n": 4}
    assert dict(shape.extra) == {}


def test_what_was_read_is_what_is_written() -> None:
    document = {"from": "a", "width": None, "points": [{"x": 1.0, "colour": "red"}], "new": [1]}
    shape = Shape.read(document)
    assert shape.json() == document
    assert shape.replace(width=3, source="b").json() == {**document, "width": 3, "from": "b"}
    assert shape.json() == document


@pytest.mark.parametrize(
    ("document", "mistake"),
    [
        ([], "must be an object, is array"),
        ({}, "from: missing"),
        ({"from": 1}, "from: must be a string, is 1"),
        ({"from": "a", "kind": "circle"}, 'kind: "circle" is none of line, curve'),
        ({"from": "a", "kind": ["line"]}, "kind: \"['line']\" is none of line, curve"),
        ({"from": "a", "width": 11}, "width: must be from 1 to 10, is 11"),
        ({"from": "a", "width": True}, "width: must be an integer, is boolean"),
        ({"from": "a", "points": {}}, "points: must be an array, is object"),
        ({"from": "a", "points": [{"x": 1}, {}]}, "points[1].x: missing"),
        ({"from": "a", "points": [{"x": 1}, {"x": "2"}]}, "points[1].x: must be a finite number"),
        ({"from": "a", "counts": {"n": 1.5}}, "counts.n: must be an integer, is 1.5"),
        ({"from": "a", "counts": {"n": 2**63}}, "counts.n: an integer of more than 64 bits"),
        ({"from": "a", "points": [{"x": 10**400}]}, "points[0].x: an integer of more than 64"),
        ({"from": "\ud800"}, "from: no Unicode: half of a character at 0"),
        ({"from": "a", "closed": 0}, "closed: must be true or false, is 0"),
        ({"from": "a", "extra": None}, "extra: must be an object, is null"),
    ],
)
def test_a_mistake_is_named_with_its_place(document: object, mistake: str) -> None:
    with pytest.raises(FieldError) as raised:
        Shape.read(document)
    assert str(raised.value).startswith(mistake)


def test_documents_do_not_change() -> None:
    point = Point(x=1.0)
    with pytest.raises(AttributeError, match="use replace"):
        point.x = 2.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        Shape(source="a").extra["x"] = 1
    assert len({point, Point(x=1.0)}) == 1


def test_names_that_python_reserves_are_those_of_the_document_when_it_is_written() -> None:
    assert Edge(source="a", target="b").json() == {"from": "a", "to": "b"}
    bound = LinkBound.read({"link": "l", "from": "a", "topic": "t", "to": ["b", "c"]})
    assert bound.target == ("b", "c")
