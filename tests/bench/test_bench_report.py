"""Tables, the results file and the pictures, from figures that are known beforehand."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from penstock.bench.plots import draw
from penstock.bench.report import HEADINGS, aligned, comparison, heading, keys, markdown, tables
from penstock.bench.results import Latency, Point, Results, Server, bare_fdatasync, machine

LATENCIES = {"SendMessage": Latency(10, 1.0, 2.0, 3.0, 4.0), "DeleteMessage": Latency(10, 0.5, 0.6, 0.7, 0.8)}
POINT = Point(
    "cycle",
    None,
    64,
    256,
    2.0,
    2000,
    LATENCIES,
    {"lost": 0},
    cpu_per_1000=0.25,
    peak_bytes=50 << 20,
    disk_per_message=7,
)
SVG = "{http://www.w3.org/2000/svg}"
DELAY = {"send to reply": Latency(10, 1.5, 2.0, 9.0, 9.0)}


@pytest.fixture
def results() -> Results:
    """Ours, a peer of half our speed, and one that did not start."""

    def points(factor: float) -> list[Point]:
        depths = [replace(POINT, mode="backlog", at=at, messages=int(2000 * factor)) for at in (0, 10_000, 1_000_000)]
        delay = replace(POINT, mode="longpoll", connections=1, latencies=DELAY)
        lone = replace(POINT, connections=1, messages=int(200 * factor))
        return [replace(POINT, messages=int(2000 * factor)), lone, delay, *depths]

    ours = Server("penstock", "Penstock", points=points(1))
    half = Server("half", "Half & Half", durable=False, signs=False, points=points(0.5))
    none = Server("none", "None <at all>", reasons={"": "it did not start"})
    return Results("penstock bench", {"processors": 2}, [ours, half, none])


def test_the_percentiles_are_those_of_the_latencies() -> None:
    latency = Latency.of(number / 1000 for number in range(100, 0, -1))
    assert (latency.count, latency.p50, latency.p95, latency.p99, latency.max) == (100, 51, 96, 100, 100)
    assert Latency.of([0.5]) == Latency(1, 500, 500, 500, 500)


def test_a_table_names_everything_that_was_asked_for(results: Results) -> None:
    lines = list(tables(results))
    assert lines[0] == "Penstock"
    assert re.split(r"  +", lines[1]) == list(HEADINGS)
    assert " ".join(lines[2].split()) == "cycle 64 1,000 SendMessage 1.00 2.00 3.00 0.250 50 7 ok"
    assert " ".join(lines[3].split()) == "DeleteMessage 0.50 0.60 0.70"
    assert "all: not measured, it did not start" in lines


def test_a_failed_check_stands_in_the_table(results: Results) -> None:
    point = replace(POINT, problems={"lost": 3, "duplicates": 0, "out of order": 1200})
    results.servers = [Server("penstock", "Penstock", points=[point])]
    assert list(tables(results))[2].endswith("3 lost, 1,200 out of order")


def test_growth_is_told_as_a_ratio_to_the_first_step(results: Results) -> None:
    first, second = POINT, replace(POINT, messages=1800)
    results.servers = [Server("penstock", "Penstock", points=[first, second])]
    assert list(tables(results))[4].split()[3] == "0.90"


def test_a_comparison_says_how_much_faster_ours_is(results: Results) -> None:
    ours, half, none = comparison(results, ("cycle", 64, None))
    assert ours[:3] == ("Penstock", "1,000", "")
    assert half[:3] == ("Half & Half", "500", "2.00")
    assert (none[0], none[-1]) == ("None <at all>", "it did not start")


def test_in_long_polling_less_is_better(results: Results) -> None:
    results.servers[1].points[2] = replace(
        POINT, mode="longpoll", connections=1, latencies={"send to reply": Latency(1, 6, 6, 6, 6)}
    )
    _, half, _ = comparison(results, ("longpoll", 1, None))
    assert half[1:4] == ("6.00", "4.00", "6.00")


def test_columns_that_nobody_fills_are_left_out() -> None:
    assert list(aligned(("MODE", "AT", "RATIO"), [("a", "", "1"), ("bb", "", "22")])) == [
        "MODE  RATIO",
        "a         1",
        "bb       22",
    ]
    assert list(markdown(("SERVER", "x"), [("a", "1")])) == ["| SERVER | x |", "|---|---:|", "| a | 1 |"]


def test_every_measurement_has_a_heading_of_as_many_columns(results: Results) -> None:
    for key in keys(results):
        assert {len(row) for row in comparison(results, key)} == {len(heading(key))}


def test_results_are_the_same_after_being_written_and_read(results: Results, tmp_path: Path) -> None:
    results.write(tmp_path / "new" / "results.json")
    assert Results.read(tmp_path / "new" / "results.json") == results


def words(picture: Path) -> set[str]:
    return {text.text or "" for text in ElementTree.parse(picture).getroot().iter(f"{SVG}text")}


def test_every_picture_is_well_formed_and_names_every_server(results: Results, tmp_path: Path) -> None:
    drawn = draw(results, tmp_path / "plots")
    assert [path.name for path in drawn] == ["throughput.svg", "latency.svg", "backlog.svg"]
    for path in drawn:
        assert {"Penstock", "Half & Half"} <= words(path)
    assert "None <at all>: it did not start" in words(drawn[0])


def test_shapes_stay_within_the_picture(results: Results, tmp_path: Path) -> None:
    for path in draw(results, tmp_path):
        root = ElementTree.parse(path).getroot()
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
        for shape in root.iter(f"{SVG}rect"):
            if shape.attrib["width"] != "100%":
                x, y, wide, high = (float(shape.attrib[name]) for name in ("x", "y", "width", "height"))
                assert 0 <= x <= x + wide <= width
                assert 0 <= y <= y + high <= height
        for text in root.iter(f"{SVG}text"):
            assert 0 <= float(text.attrib["y"]) <= height


def test_nothing_measured_draws_nothing(tmp_path: Path) -> None:
    assert draw(Results("x", {}, [Server("penstock", "Penstock", reasons={"": "no"})]), tmp_path) == []


def test_the_machine_is_described(tmp_path: Path) -> None:
    described = machine(tmp_path)
    assert described.keys() == {"processors", "processor", "kernel", "python", "fdatasync_us"}
    assert bare_fdatasync(tmp_path, times=3) > 0
    assert list(tmp_path.iterdir()) == []
