"""The documents in docs/reference are those that the program would write today."""

import re
import tomllib
from pathlib import Path

import pytest

from penstock.config import load
from penstock.config.table import rows
from penstock.reference import DOCUMENTS, written

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_reference_document_is_current(name: str) -> None:
    assert (REFERENCE / name).read_text(encoding="utf-8") == written(name), "run `make docs`"


def test_every_setting_is_documented() -> None:
    text = (REFERENCE / "settings.md").read_text()
    assert all(f"| `{row.name}` | `{row.variable}` |" in text for row in rows().values())


def test_the_example_of_declared_accounts_and_queues_is_accepted(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", (REFERENCE / "settings.md").read_text(), re.DOTALL)
    assert tomllib.loads(example)
    (tmp_path / "penstock.toml").write_text(example)
    settings = load({}, {}, tmp_path / "penstock.toml").settings
    assert [queue.name for queue in settings.queues] == ["orders", "orders-dead"]
