"""Writes what follows from the descriptions of Takt's documents: `make generate`.

libtakt describes the fields of takt/model; its schema follows from them. The schemas of the other
documents are written by hand, but for the names of stages. Python's types,
python/takt/documents/types.py, follow from all. The viewer has the stages from here, too.
"""

from __future__ import annotations

import json
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import takt_native
from takt.documents.typed import Document

PYTHON = Path(__file__).parents[1] / "python" / "takt"
SCHEMAS = PYTHON / "schemas"
MODEL = SCHEMAS / "model.schema.json"
TYPES = PYTHON / "documents" / "types.py"
FLOW = SCHEMAS / "flow.schema.json"
STAGES = PYTHON.parents[1] / "web" / "src" / "data" / "stages.ts"

DOCUMENTS = (
    "model",
    "bounds",
    "measurement",
    "simulation",
    "shaping",
    "handoff",
    "summary",
    "labels",
)
"""The documents that Python reads as types."""

RENAMED = {"from": "source", "to": "target"}
"""Fields whose names are Python keywords, and their counterparts."""

HEADER = '''"""The documents that commands, reports and notebooks read, as typed values.

Generated from the schemas by `make generate`; tests/python/test_generated.py fails if it is stale.
Fields whose absence means what their default says may be left out of documents.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from takt.documents.typed import EMPTY, Between, Document, Key
'''

LARGEST = 2**63 - 1

Schema = dict[str, Any]


def outputs() -> dict[Path, str]:
    """The text of every generated file."""
    model = takt_native.model_schema()
    return {
        MODEL: model,
        TYPES: _formatted(_types({MODEL.name: model})),
        FLOW: _flow_schema(),
        STAGES: _stages(),
    }


def _flow_schema() -> str:
    """The schema of takt/flow with the present names of stages."""
    schema = json.loads(FLOW.read_text(encoding="utf-8"))
    names = [name for name, _, _ in takt_native.STAGES]
    definitions = schema["$defs"]
    definitions["FlowPart"]["properties"]["stage"]["enum"] = names
    breakdown = definitions["FlowPath"]["properties"]["breakdown"]
    breakdown["required"] = names
    breakdown["properties"] = {name: {"type": "integer"} for name in names}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _stages() -> str:
    rows = "".join(f"  ['{kind}', '{words}'],\n" for _, kind, words in takt_native.STAGES)
    return (
        "/** Generated from libtakt/flow/include/takt/flow/stages.def by `make generate`. */\n\n"
        "/** What a latency is spent on: kinds and words, in the order of their numbers. */\n"
        f"export const STAGES = [\n{rows}] as const;\n"
    )


def _types(generated: dict[str, str]) -> str:
    written: dict[str, Schema] = {}
    classes: list[str] = []
    for document in DOCUMENTS:
        name = f"{document}.schema.json"
        text = generated.get(name) or (SCHEMAS / name).read_text(encoding="utf-8")
        schema = json.loads(text)
        definitions = {**schema.pop("$defs", {}), schema["title"]: schema}
        for title, definition in _in_order(definitions):
            if title in written:
                if written[title] != definition:
                    raise SystemExit(f"{name}: {title} is another in an earlier schema")
                continue
            written[title] = definition
            classes.append(_class(title, definition, definitions))
    exported = ", ".join(f'"{title}"' for title in sorted(written))
    return "\n\n".join([f"{HEADER}\n__all__ = [{exported}]\n", *classes])


def _in_order(definitions: dict[str, Schema]) -> Iterator[tuple[str, Schema]]:
    """Each definition after those that it refers to. Alternatives of a choice are left out: one
    class has the fields of all of them.
    """
    alternatives = {
        _target(option)
        for definition in definitions.values()
        for option in definition.get("oneOf", [])
    }
    done: set[str] = set()

    def visit(title: str) -> Iterator[tuple[str, Schema]]:
        if title in done:
            return
        done.add(title)
        for reference in _references(definitions[title]):
            yield from visit(reference)
        if title not in alternatives:
            yield title, definitions[title]

    for title in definitions:
        yield from visit(title)


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield _target(schema)
        for value in schema.values():
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)


def _target(schema: Schema) -> str:
    return str(schema["$ref"]).removeprefix("#/$defs/")


def _class(title: str, schema: Schema, definitions: dict[str, Schema]) -> str:
    base = _target(schema["allOf"][0]) if "allOf" in schema else "Document"
    lines = [f"class {title}({base}):", _docstring(schema["description"])]
    fields = (
        _choice([definitions[_target(option)] for option in schema["oneOf"]])
        if "oneOf" in schema
        else schema
    )
    for name, field in fields["properties"].items():
        lines.append(_field(name, field, name in fields.get("required", []), definitions))
        # One of several alternatives' fields belongs to those of its own kind.
        if "description" in field:
            lines.append(_docstring(field["description"]))
    return "\n".join(lines) + "\n"


def _choice(alternatives: list[Schema]) -> Schema:
    """The fields of all alternatives, the kind first; all but the kind may be missing."""
    kinds = [alternative["properties"]["kind"]["const"] for alternative in alternatives]
    properties: Schema = {"kind": {"enum": kinds}}
    for alternative in alternatives:
        for name, field in alternative["properties"].items():
            properties.setdefault(name, field)
    required = ["kind"]
    if any(name == "kind" for alternative in alternatives for name in alternative["properties"]):
        without_fields = [a for a in alternatives if list(a["properties"]) == ["kind"]]
        if without_fields:
            properties["kind"]["default"] = without_fields[0]["properties"]["kind"]["const"]
            required = []
    return {"properties": properties, "required": required}


def _field(name: str, schema: Schema, required: bool, definitions: dict[str, Schema]) -> str:
    kind, nullable = _type(schema)
    default = _default(schema, kind, nullable, required, definitions)
    if default == "None" and not nullable:
        kind += " | None"
    python_name = RENAMED.get(name, name)
    if python_name in vars(Document):
        raise SystemExit(f"{name}: every document has something else of this name")
    if python_name != name:
        kind = f'Annotated[{kind}, Key("{name}")]'
    return f"    {python_name}: {kind}" + ("" if default is None else f" = {default}")


def _default(
    schema: Schema, kind: str, nullable: bool, required: bool, definitions: dict[str, Schema]
) -> str | None:
    """The default of a missing field, as Python text; None: the field is required."""
    if "default" in schema:
        if schema["default"] in ([], {}) and not _reference(schema):
            return "()" if schema["default"] == [] else "EMPTY"
        return f"{_reference(schema)}()" if _reference(schema) else repr(schema["default"])
    if nullable:
        return "None"
    if required and not _may_be_empty(schema, definitions):
        return None
    if kind.startswith("tuple"):
        return "()"
    if kind.startswith("dict"):
        return "EMPTY"
    if _may_be_empty(schema, definitions):
        return f"{_target(schema)}()"
    return "None"


def _may_be_empty(schema: Schema, definitions: dict[str, Schema]) -> bool:
    """Whether it is an object all of whose fields may be missing, or a collection."""
    if "$ref" not in schema:
        return schema.get("type") in ("array", "object")
    target = definitions[_target(schema)]
    fields = (
        _choice([definitions[_target(option)] for option in target["oneOf"]])
        if "oneOf" in target
        else target
    )
    required = set(fields.get("required", []))
    return all(
        _default(field, *_type(field), name in required, definitions) is not None
        for name, field in fields.get("properties", {}).items()
    )


def _type(schema: Schema) -> tuple[str, bool]:
    """The type as Python writes it, and whether null is one of its values."""
    if "const" in schema:
        return f"Literal[{json.dumps(schema['const'])}]", False
    if "enum" in schema:
        values = [value for value in schema["enum"] if value is not None]
        listed = ", ".join(json.dumps(value) for value in values)
        # A null stands for the default.
        nullable = None in schema["enum"] and "default" not in schema
        return f"Literal[{listed}]" + (" | None" if nullable else ""), nullable
    if "$ref" in schema:
        return _target(schema), False
    if "oneOf" in schema:
        nullable = "default" not in schema
        return f"{_reference(schema)}" + (" | None" if nullable else ""), nullable
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    (name,) = (each for each in types if each != "null")
    nullable = "null" in types and "default" not in schema
    return _plain(name, schema) + (" | None" if nullable else ""), nullable


def _reference(schema: Schema) -> str | None:
    """The type that a field, or one that may be null, refers to."""
    options = [schema, *schema.get("oneOf", [])]
    return next((_target(option) for option in options if "$ref" in option), None)


def _plain(name: str, schema: Schema) -> str:
    if name == "array":
        return f"tuple[{_type(schema['items'])[0]}, ...]"
    if name == "object":
        values = schema.get("additionalProperties")
        return f"dict[str, {_type(values)[0] if isinstance(values, dict) else 'Any'}]"
    if name == "integer":
        least = schema.get("minimum", -LARGEST)
        most = schema.get("maximum", LARGEST)
        return f"Annotated[int, Between({least}, {most})]"
    return {"string": "str", "number": "float", "boolean": "bool"}[name]


def _docstring(text: str) -> str:
    lines = textwrap.wrap(text, 90)
    closing = '"""' if len(lines) == 1 else '\n"""'
    return textwrap.indent('"""' + "\n".join(lines) + closing, "    ")


def _formatted(source: str) -> str:
    """As `make format` lays it out."""
    return subprocess.run(
        ["ruff", "format", "-", "--stdin-filename", str(TYPES)],
        input=source,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def main() -> None:
    for path, text in outputs().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")


if __name__ == "__main__":
    main()
