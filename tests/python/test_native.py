"""The extensions are what their type stubs say."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

import takt_native

STUBS = Path(__file__).parents[2] / "python"
EXTENSIONS = ("takt_native", "takt_design", "takt_estimators", "takt_export")


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


BODIES = {
    name: ast.parse((STUBS / f"{name}.pyi").read_text(encoding="utf-8")).body for name in EXTENSIONS
}
STUBBED = {
    (extension, name): arguments
    for extension, body in BODIES.items()
    for name, arguments in functions(body).items()
}


def exported(extension: str, name: str) -> list[str]:
    """Names of the arguments of a function of the extension, from what it says of itself."""
    function = importlib.import_module(extension)
    for part in name.split("."):
        function = getattr(function, part)
    ((signature, *_),) = function.__nb_signature__
    plain = re.sub(r"numpy\.ndarray\[[^]]*\]", "numpy.ndarray", re.sub(r" = \\\d+", "", signature))
    declaration = ast.parse(plain + ": ...").body[0]
    assert isinstance(declaration, ast.FunctionDef)
    return [argument.arg for argument in declaration.args.args]


@pytest.mark.parametrize(("extension", "name"), STUBBED)
def test_a_stub_names_functions_and_arguments_as_they_are(extension: str, name: str) -> None:
    assert exported(extension, name) == STUBBED[extension, name]


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_a_stub_is_complete(extension: str) -> None:
    public = {name for name in vars(importlib.import_module(extension)) if not name.startswith("_")}
    body = BODIES[extension]
    declared = {name.split(".")[0] for name in functions(body)} | constants(body)
    declared |= {
        statement.name
        for statement in body
        if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_")
    }
    assert public == declared


def test_every_extension_raises_the_same_error() -> None:
    takt_design = importlib.import_module("takt_design")
    with pytest.raises(takt_native.InputError, match="a timing model begins with"):
        takt_design.simulate("{}", "model", "no object")
