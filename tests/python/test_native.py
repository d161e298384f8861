"""The extension is what its type stub says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import takt_native

STUB = Path(__file__).parents[2] / "python" / "takt_native.pyi"


def functions(body: list[ast.stmt], prefix: str = "") -> dict[str, list[str]]:
    """Names of functions and methods, and of their arguments. What several classes share is in a
    class that only the stub has; its name begins with an underscore.
    """
    found: dict[str, list[str]] = {}
    common = {
        statement.name: statement.body
        for statement in body
        if isinstance(statement, ast.ClassDef) and statement.name.startswith("_")
    }
    for statement in body:
        if isinstance(statement, ast.ClassDef) and statement.name not in common:
            bases = [base.id for base in statement.bases if isinstance(base, ast.Name)]
            for part in (statement.body, *(common.get(base, []) for base in bases)):
                found |= functions(part, f"{statement.name}.")
        elif isinstance(statement, ast.FunctionDef):
            found[prefix + statement.name] = [argument.arg for argument in statement.args.args]
    return found


def constants(body: list[ast.stmt]) -> set[str]:
    return {
        statement.target.id
        for statement in body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    }


BODY = ast.parse(STUB.read_text(encoding="utf-8")).body
STUBBED = functions(BODY)


def exported(name: str) -> list[str]:
    """Names of the arguments of a function of the extension, from what it says of itself."""
    function = takt_native
    for part in name.split("."):
        function = getattr(function, part)
    ((signature, *_),) = function.__nb_signature__  # type: ignore[attr-defined]
    plain = re.sub(r"numpy\.ndarray\[[^]]*\]", "numpy.ndarray", re.sub(r" = \\\d+", "", signature))
    declaration = ast.parse(plain + ": ...").body[0]
    assert isinstance(declaration, ast.FunctionDef)
    return [argument.arg for argument in declaration.args.args]


@pytest.mark.parametrize("name", STUBBED)
def test_the_stub_names_functions_and_arguments_as_they_are(name: str) -> None:
    assert exported(name) == STUBBED[name]


def test_the_stub_is_complete() -> None:
    public = {name for name in vars(takt_native) if not name.startswith("_")}
    classes = {statement.name for statement in BODY if isinstance(statement, ast.ClassDef)}
    functions_and_classes = {name.split(".")[0] for name in STUBBED} | {"InputError"}
    functions_and_classes |= {name for name in classes if not name.startswith("_")}
    assert public == functions_and_classes | constants(BODY)
