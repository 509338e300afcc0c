"""The figures in the README are those of a results file, and can be made from it again."""

from pathlib import Path

import pytest
import readme

from penstock.bench.results import Results

RESULTS = readme.ROOT / "bench" / "results" / readme.KEPT


def test_the_figures_of_the_readme_are_those_that_were_measured() -> None:
    text = readme.README.read_text()
    block = text.partition(readme.BEGIN)[2].partition(readme.END)[0]
    assert block.strip() == readme.block(Results.read(RESULTS)), "run `python bench/compare.py --readme`"


def test_the_pictures_of_the_readme_are_there() -> None:
    for name in ("throughput", "latency", "backlog"):
        assert f"docs/figures/{name}.svg" in readme.README.read_text()
        assert (readme.FIGURES / f"{name}.svg").read_text().startswith("<svg ")


@pytest.mark.parametrize(
    "found", [b"{", b"[]", b'{"size": {}, "rows": []}', b'{"command":"","machine":{},"servers":[]}']
)
def test_results_of_another_form_are_told_in_one_line_and_change_nothing(found: bytes, tmp_path: Path) -> None:
    (tmp_path / "latest.json").write_bytes(found)
    before = readme.README.read_text()
    with pytest.raises(SystemExit, match="has another form than results have now"):
        readme.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["latest.json"]
    assert readme.README.read_text() == before
