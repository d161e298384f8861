"""A YAML file read strictly: plain values, no aliases, no unknown fields, one line a mistake."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy
import yaml

from takt.errors import UserError
from takt.handoff.expressions import Array
from takt.text import times

LARGEST = 1 << 20
"""Characters of a plant file."""
LONGEST_NUMBER = 400
"""Characters of a whole number."""


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """A loader that refuses aliases, with which a small file can grow without end, and duplicate
    keys.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.constructor.ConstructorError(
                None, None, "aliases are not read", self.peek_event().start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a name must be text", key.start_mark
                )
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"'{key.value}' stands here twice", key.start_mark
                )
            seen.add(key.value)
        made: dict[Any, Any] = super().construct_mapping(node, deep)
        return made

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        if len(node.value) > LONGEST_NUMBER:
            raise yaml.constructor.ConstructorError(
                None, None, "a number of too many digits", node.start_mark
            )
        made: int = super().construct_yaml_int(node)
        return made


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


def load(text: str, source: str) -> dict[str, Any]:
    """The mapping that a file is. UserError names the line."""
    if len(text) > LARGEST:
        raise UserError(f"{source}: larger than 1 MiB; is it a plant?")
    try:
        # A subclass of SafeLoader: it makes plain values only.
        document = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise UserError(f"{source}{line}: {error.problem or 'cannot be read'}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UserError(f"{source}: not a YAML file that can be read") from error
    if not isinstance(document, dict):
        raise UserError(f"{source}: must hold fields such as 'states:' and 'dynamics:'")
    return document


@dataclass(frozen=True)
class Section:
    """The fields below one name; the method that reads a field says what it must be."""

    values: dict[Any, Any]
    where: str

    def finish(self, *known: str) -> None:
        """UserError if there are other fields."""
        for key in self.values:
            if key not in known:
                raise UserError(f"{self.where}: unknown field '{key}'; one of {', '.join(known)}")

    def section(self, key: str) -> Section:
        found = self.values.get(key)
        where = f"{self.where}: {key}" if ": " not in self.where else f"{self.where}.{key}"
        if found is None:
            return Section({}, where)
        if not isinstance(found, dict):
            raise UserError(f"{where}: must have fields, 'name: value'")
        return Section(found, where)

    def required_section(self, key: str) -> Section:
        found = self.section(key)
        if not found.values:
            raise UserError(f"{self.where}: '{key}:' is missing")
        return found

    def text(self, key: str, default: str) -> str:
        found = self.values.get(key, default)
        if not isinstance(found, str):
            raise UserError(f"{self.where}: {key}: must be text")
        return found

    def choice(self, key: str, known: tuple[str, ...], default: str) -> str:
        found = self.values.get(key, default)
        if found not in known:
            raise UserError(f"{self.where}: {key}: '{found}' is not one of {', '.join(known)}")
        return str(found)

    def number(self, key: str, above: float | None = None) -> float:
        if key not in self.values:
            raise UserError(f"{self.where}: '{key}:' is missing")
        found = _number(self.values[key], f"{self.where}.{key}")
        if above is not None and found <= above:
            raise UserError(f"{self.where}.{key}: must be above {above:g}")
        return found

    def whole(self, key: str, default: int, least: int, most: int) -> int:
        found = self.values.get(key, default)
        if type(found) is not int or not least <= found <= most:
            raise UserError(
                f"{self.where}.{key}: must be a whole number between {least} and {most}"
            )
        return found

    def time(self, key: str, default: int | None = None) -> int:
        """In nanoseconds."""
        if key not in self.values and default is not None:
            return default
        found = self.values.get(key)
        nanoseconds = times.nanoseconds(found) if isinstance(found, str) else None
        if nanoseconds is None:
            raise UserError(f"{self.where}.{key}: must be a time with its unit, such as 5ms")
        if nanoseconds > times.LONGEST or (default is None and nanoseconds == 0):
            raise UserError(f"{self.where}.{key}: must be above 0 and at most 10^6 s")
        return nanoseconds

    def intervals(self, limit: int) -> dict[str, tuple[float, float]]:
        """Each field a list [low, high]."""
        found = {}
        for key, value in self._fields(limit).items():
            where = f"{self.where}.{key}"
            if not isinstance(value, list) or len(value) != 2:
                raise UserError(f"{where}: must be an interval, [low, high]")
            low, high = (_number(end, where) for end in value)
            if low >= high:
                raise UserError(f"{where}: the first must be below the second")
            found[key] = (low, high)
        return found

    def numbers(self) -> dict[str, float]:
        return {k: _number(v, f"{self.where}.{k}") for k, v in self._fields(64).items()}

    def texts(self, limit: int) -> dict[str, str]:
        return {
            key: value if isinstance(value, str) else str(_number(value, f"{self.where}.{key}"))
            for key, value in self._fields(limit).items()
        }

    def vector(self, names: tuple[str, ...], default: float) -> Array:
        """The fields of some names, in their order; others are left to `finish`."""
        return numpy.array(
            [_number(self.values.get(name, default), f"{self.where}.{name}") for name in names]
        )

    def covariance(self, names: tuple[str, ...], default: float | None) -> Array:
        """A diagonal matrix of variances. None: each must be given."""
        self.finish(*names)
        found = []
        for name in names:
            if name not in self.values and default is None:
                raise UserError(f"{self.where}: the variance of '{name}' is missing")
            value = _number(self.values.get(name, default), f"{self.where}.{name}")
            if value < 0 or (default is None and value == 0):
                raise UserError(f"{self.where}.{name}: a variance must be above 0")
            found.append(value)
        return numpy.diag(found)

    def _fields(self, limit: int) -> dict[str, Any]:
        if len(self.values) > limit:
            raise UserError(f"{self.where}: at most {limit}")
        for key in self.values:
            if not isinstance(key, str):
                raise UserError(f"{self.where}: '{key}' is no name; put it in quotes or rename it")
        return self.values


def _number(value: object, where: str) -> float:
    # YAML takes 1e-6, without a point, for text.
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise UserError(f"{where}: must be a number")
    try:
        found = float(value)
    except OverflowError as error:
        raise UserError(f"{where}: too large") from error
    except ValueError as error:
        raise UserError(f"{where}: '{value}' is no number") from error
    if not math.isfinite(found):
        raise UserError(f"{where}: must be finite")
    return found
