"""The README's tour works as it is written: its ```sh blocks run in order, in one shell, beside a fresh server.

The test plays `make run` and pastes the lines that the first start prints. Blocks of other kinds are for reading.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from server_process import Server, clean_environment

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
AWS = ROOT / ".venvs" / "awscli" / "bin"
TOUR_SECONDS = 120


def blocks(text: str, kind: str) -> Iterator[str]:
    """The fenced blocks of a kind under the heading that speaks of a tour."""
    depth, fence, lines = 0, "", list[str]()
    for line in text.splitlines():
        if fence:
            if line.startswith("```"):
                if depth and fence == kind:
                    yield "\n".join(lines)
                fence = ""
            else:
                lines.append(line)
        elif line.startswith("```"):
            fence, lines = line[3:].strip() or "plain", []
        elif heading := re.match(r"(#+) (.*)", line):
            if "tour" in heading[2].lower():
                depth = len(heading[1])
            elif len(heading[1]) <= depth:
                depth = 0


@pytest.fixture(scope="module")
def first_start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("readme")
    server = Server(folder, {"PENSTOCK_ROOT_ACCESS_KEY": "", "PENSTOCK_ROOT_SECRET_KEY": ""})
    server.start()
    yield server
    assert server.stop() == 0


def exports(text: str) -> list[str]:
    return re.findall(r"^ *(export .*)$", text, re.MULTILINE)


def names(text: str) -> list[str]:
    return [line.split("=")[0] for line in exports(text)]


def test_only_the_blocks_of_the_tour_are_run() -> None:
    sh = "```sh\n{}\n```\n"
    text = f"# A\n{sh}## The Tour\n{sh}### More\n```console\n$ no\n```\n{sh}## B\n{sh}".format(
        "no", "# one", "two", "no"
    )
    assert list(blocks(text, "sh")) == ["# one", "two"]


def test_the_tour_shows_the_lines_that_the_first_start_prints(first_start: Server) -> None:
    assert names(first_start.output()) in [names(block) for block in blocks(README, "console")]


def test_the_tour_works_as_it_is_written(first_start: Server) -> None:
    if not AWS.exists() and "CI" not in os.environ:
        pytest.skip("run `make sdk-envs`")
    tour = list(blocks(README, "sh"))
    assert tour, "the README has no tour"
    assert ":9324" not in "".join(tour), "a tour that is run goes where $AWS_ENDPOINT_URL says"
    script = "\n".join(["set -eo pipefail", *exports(first_start.output())])
    for number, block in enumerate(tour, 1):
        script += f"\necho '--- block {number}' >&2\n{block}\n"
    path = os.pathsep.join([str(Path(sys.executable).parent), str(AWS), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=first_start.folder,
        env=clean_environment() | {"PATH": path, "AWS_CONFIG_FILE": os.devnull, "AWS_PAGER": ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TOUR_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
