"""The rules of the house that a machine can hold: who may import whom, what nothing may be called, what must load."""

import ast
from pathlib import Path

import pytest

from penstock import registry
from penstock.aws import stubs

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "penstock"

MAY_IMPORT: dict[str, set[str]] = {
    "core": {"core"},
    "aws": {"aws", "core"},
    "api": {"api", "aws", "core", "native"},
    "stores": {"core", "native"},
    "listeners": {"listeners", "aws", "core", "native"},
    "journal": {"journal", "core"},
    "audit": {"audit", "core", "journal"},
    "bench": {"bench"},
    "pipeline": {"pipeline"},
    "loops": {"loops", "core", "api", "journal", "audit"},
}
"""Folder → the folders of ours it may import. A store may also import its own folder, and no other store."""

FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "misc", "base", "manager", "types"}
PURE = {"asyncio", "socket", "os", "time", "random", "subprocess", "threading", "apsw", "httptools", "uvloop"}
CLOCK = PACKAGE / "core" / "clock.py"


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def imports(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


def folder(file: Path) -> str:
    relative = file.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else ""


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_folder_may(file: Path) -> None:
    allowed = MAY_IMPORT.get(folder(file))
    if allowed is None:
        return
    own = f"penstock.{'.'.join(file.relative_to(PACKAGE).parts[:2])}".removesuffix(".py")
    for name in imports(file):
        parts = name.split(".")
        if parts[0] == "penstock" and len(parts) > 1:
            assert parts[1] in allowed or name.startswith(own), f"{file.name} imports {name}"


@pytest.mark.parametrize("file", sorted((PACKAGE / "core").rglob("*.py")), ids=lambda f: str(f.relative_to(PACKAGE)))
def test_the_core_does_no_input_or_output_and_does_not_know_the_time(file: Path) -> None:
    reached = {name.split(".")[0] for name in imports(file)} & PURE
    assert not reached or file == CLOCK, f"{file.name} imports {reached}"


def test_nothing_is_called_by_a_name_that_says_nothing() -> None:
    named = {file.stem for file in modules()} | {file.parent.name for file in modules()}
    assert not named & FORBIDDEN_NAMES


def test_every_module_says_what_it_is_for() -> None:
    silent = [str(f.relative_to(PACKAGE)) for f in modules() if not ast.get_docstring(ast.parse(f.read_text()))]
    assert silent == []


def test_no_module_is_longer_than_400_lines() -> None:
    long = {str(f.relative_to(PACKAGE)): n for f in modules() if (n := len(f.read_text().splitlines())) > 400}
    assert long == {}


@pytest.mark.parametrize("where", [*registry.SERVICES.values(), *registry.STORES.values()])
def test_every_entry_of_the_registry_loads(where: str) -> None:
    assert registry.load(where)


def test_every_operation_that_is_answered_is_in_its_service_s_model() -> None:
    for where in registry.SERVICES.values():
        module = registry.load(where)
        assert module.OPERATIONS.keys() <= module.SERVICE.operations.keys()


def test_all_of_sqs_is_answered() -> None:
    sqs = registry.load(registry.SERVICES["sqs"])
    assert sqs.OPERATIONS.keys() == sqs.SERVICE.operations.keys()


@pytest.mark.parametrize("service", stubs.STUBBED)
def test_the_stubs_of_the_compiled_shapes_are_current(service: str) -> None:
    assert stubs.path_of(service).read_text() == stubs.stub(service), "run `make stubs`"
