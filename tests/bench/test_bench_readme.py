"""The figures in the README are those of a results file, and can be made from it again."""

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
