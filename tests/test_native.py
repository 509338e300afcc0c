"""The crate in `native/`: its own tests, its form and its lint; and that it is built of nothing that is not pinned."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CRATE = Path(__file__).parent.parent / "native"


@pytest.fixture(scope="module", autouse=True)
def rust() -> None:
    if shutil.which("cargo") is None:
        words = "Rust is not installed: by rustup, or the cargo of your distribution if it is 1.85 or newer"
        if os.environ.get("CI"):
            pytest.fail(words)
        pytest.skip(words)


def cargo(*words: str) -> str:
    done = subprocess.run(["cargo", *words], cwd=CRATE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_the_crate_tests_itself_holds() -> None:
    said = cargo("test", "--release")
    assert re.search(r"test result: ok\. [1-9]\d* passed; 0 failed", said)


@pytest.mark.parametrize("words", [("fmt", "--check"), ("clippy", "--release", "--quiet", "--", "--deny", "warnings")])
def test_it_is_in_the_house_s_form(words: tuple[str, ...]) -> None:
    if subprocess.run(["cargo", words[0], "--version"], capture_output=True, check=False).returncode:
        pytest.skip(f"rustup component add {'rustfmt' if words[0] == 'fmt' else 'clippy'}")
    cargo(*words)


def test_every_crate_that_it_is_built_of_is_pinned() -> None:
    machine = re.search(r"^host: (.+)$", subprocess.check_output(["rustc", "-vV"], text=True), re.MULTILINE)
    assert machine
    built_of = json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", machine[1]))["packages"]
    pinned = re.findall(r'^([\w-]+) = .*"=([^"]+)"', (CRATE / "Cargo.toml").read_text(), re.MULTILINE)
    assert {(crate["name"], crate["version"]) for crate in built_of if crate["source"]} == set(pinned)


def test_what_is_unsafe_says_why_it_holds() -> None:
    for file in sorted((CRATE / "src").glob("*.rs")):
        lines = file.read_text().splitlines()
        for number, line in enumerate(lines):
            if re.search(r"\bunsafe \{", line):
                said = "\n".join(lines[max(0, number - 30) : number + 1])
                assert "SAFETY" in said, f"{file.name}:{number + 1}"
