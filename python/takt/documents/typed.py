"""JSON objects as values with typed attributes.

A class lists its fields and their types, which are interpreted when the first value of it is read.
So importing the classes of all documents takes a millisecond.
"""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

if TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[type], type]:
        return lambda decorated: decorated


LARGEST = 2**63 - 1
"""Of all integers in documents."""
EMPTY: Any = types.MappingProxyType({})
"""The default of fields that are dictionaries."""


class Between(NamedTuple):
    """The range of an integer, both ends included: Annotated[int, Between(0, 10)]."""

    least: int
    most: int


class Key(NamedTuple):
    """The field's name in JSON, where Python has another: Annotated[str, Key("from")]."""

    name: str


class FieldError(Exception):
    """JSON that its type does not have: "chains[2].goal: must be an integer, is string"."""

    def __init__(self, fault: str) -> None:
        super().__init__(fault)
        self._fault = fault
        self._path = ""

    def inside(self, place: str) -> FieldError:
        """The same one level further out: ".goal" or "[2]" is before the path so far."""
        self._path = place + self._path
        return self

    def __str__(self) -> str:
        path = self._path.removeprefix(".")
        return f"{path}: {self._fault}" if path else self._fault


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Document:
    """A JSON object, or part of one. Fields that this version does not know are kept, not refused.

    The attributes are the fields that were given; a field that is missing has its default.
    """

    def __init__(self, **fields: Any) -> None:
        """Trusts that the fields have their types; read() does not."""
        vars(self).update(fields)

    @classmethod
    def read(cls, value: object) -> Self:
        """Reads an object of JSON. Raises FieldError."""
        found: Self = _object(cls)(value)
        return found

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        return type(self)(**{**vars(self), **changes})

    def json(self) -> dict[str, Any]:
        """The JSON object with the fields that were given; shares what is no document."""
        keys = _description(type(self)).keys
        return {keys.get(name, name): _json(value) for name, value in vars(self).items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.json() == other.json()

    def __hash__(self) -> int:
        return hash(frozenset(vars(self)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"documents do not change: use replace({name}=…)")

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({fields})"


AnyDocument = TypeVar("AnyDocument", bound=Document)
Reader = Callable[[Any], Any]


class _Description(NamedTuple):
    """The fields of a document, as the annotations of its class declare them."""

    fields: dict[str, tuple[str, Reader]]
    """By the key in JSON: the attribute and what reads it."""
    keys: dict[str, str]
    """The keys of the attributes that are called otherwise."""
    required: frozenset[str]
    """The keys of the fields without a default."""


def _description(kind: type[Document]) -> _Description:
    if kind not in _DESCRIPTIONS:
        _DESCRIPTIONS[kind] = _describe(kind)
    return _DESCRIPTIONS[kind]


_DESCRIPTIONS: dict[type[Document], _Description] = {}


def _describe(kind: type[Document]) -> _Description:
    fields, keys, required = {}, {}, set()
    for name, hint in get_type_hints(kind, include_extras=True).items():
        key = next((extra.name for extra in get_args(hint) if isinstance(extra, Key)), name)
        fields[key] = name, _reader(hint)
        if key != name:
            keys[name] = key
        if not hasattr(kind, name):
            required.add(key)
    return _Description(fields, keys, frozenset(required))


def _json(value: object) -> object:
    if isinstance(value, Document):
        return value.json()
    if isinstance(value, tuple):
        return [_json(element) for element in value]
    if isinstance(value, dict):
        return {key: _json(element) for key, element in value.items()}
    return value


# Readers: each takes a value of JSON and returns it as its type, or raises FieldError.


def _object(kind: type[Document]) -> Reader:
    def read(value: object) -> Document:
        if not isinstance(value, dict):
            raise _is_not("an object", value)
        fields, _, required = _description(kind)
        found: dict[str, object] = {}
        key = ""
        try:
            for key, given in value.items():
                name, reader = fields.get(key) or (key, _any)
                found[name] = reader(given)
        except FieldError as error:
            raise error.inside(f".{key}") from None
        for key in required.difference(value):
            raise FieldError("missing").inside(f".{key}")
        return kind(**found)

    return read


@functools.cache
def _reader(hint: Any) -> Reader:
    if hint in _PLAIN:
        return _PLAIN[hint]
    if isinstance(hint, type) and issubclass(hint, Document):
        return _object(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        ranges = [extra for extra in arguments[1:] if isinstance(extra, Between)]
        return _range(*ranges[0]) if ranges else _reader(arguments[0])
    if origin is Literal:
        return _choice(arguments)
    if origin in (Union, types.UnionType):
        (present,) = (each for each in arguments if each is not type(None))
        return _nullable(_reader(present))
    if origin is tuple:
        return _array(_reader(arguments[0]))
    assert origin is dict, f"{hint}: documents have no such type"
    return _mapping(_reader(arguments[1]))


def _range(least: int, most: int) -> Reader:
    def read(value: object) -> int:
        if type(value) is not int:
            raise _is_not("an integer", value)
        if not least <= value <= most:
            raise FieldError(f"must be from {least} to {most}, is {value}")
        return value

    return read


def _choice(known: tuple[Any, ...]) -> Reader:
    def read(value: object) -> object:
        if not isinstance(value, (str, int)) or value not in known or isinstance(value, bool):
            names = ", ".join(map(str, known))
            raise FieldError(f'"{value}" is none of {names}')
        return value

    return read


def _nullable(reader: Reader) -> Reader:
    return lambda value: None if value is None else reader(value)


def _array(reader: Reader) -> Reader:
    def read(value: object) -> tuple[object, ...]:
        if not isinstance(value, list):
            raise _is_not("an array", value)
        found: list[object] = []
        try:
            found.extend(map(reader, value))
        except FieldError as error:
            raise error.inside(f"[{len(found)}]") from None
        return tuple(found)

    return read


def _mapping(reader: Reader) -> Reader:
    def read(value: object) -> dict[str, object]:
        if not isinstance(value, dict):
            raise _is_not("an object", value)
        found: dict[str, object] = {}
        key = ""
        try:
            for key, element in value.items():
                found[_text(key)] = reader(element)
        except FieldError as error:
            raise error.inside(f".{key}") from None
        return found

    return read


def _any(value: object) -> object:
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _is_not("a string", value)
    if not value.isascii():
        _check_unicode(value)
    return value


def _check_unicode(text: str) -> None:
    """FieldError if it has half of a character, as JSON may: no file and no table can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise FieldError(f"no Unicode: half of a character at {error.start}") from error


def _number(value: object) -> float:
    if type(value) is int:
        return float(_whole(value))
    if type(value) is not float or not math.isfinite(value):
        raise _is_not("a finite number", value)
    return value


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise _is_not("true or false", value)
    return value


def _whole(value: object) -> int:
    if type(value) is not int:
        raise _is_not("an integer", value)
    if not -LARGEST <= value <= LARGEST:
        raise FieldError("an integer of more than 64 bits")
    return value


_PLAIN: dict[Any, Reader] = {
    Any: _any,
    str: _text,
    float: _number,
    bool: _boolean,
    int: _whole,
}

_NAMES = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}


def _is_not(expected: str, value: object) -> FieldError:
    """The mistake in the words of libtakt."""
    return FieldError(f"must be {expected}, is {_NAMES.get(type(value), value)}")
