"""`penstock pipeline report`: the page in a real browser, with rich, tiny, empty and hostile data."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.ask import Ask
from penstock.pipeline.jobs import report
from penstock.pipeline.reporting.page import About, page
from penstock.pipeline.reporting.quantities import HOUR, count, duration
from penstock.pipeline.schemas import CORRUPT, EVENTS
from penstock.pipeline.tables import Batch, TableError, open_table

from . import chromium
from .journals import START, Line, line
from .traffic import a_day, frame

EVIL = "<img src=x onerror=alert(1)>\"'&</td></svg><script>document.title='owned'</script>"
TINY = [
    line(1, after_ms=5000, size=10, message_id="a"),
    line(2, "RECEIVED", 5400, receive_count=1, duration_ms=400, message_id="a"),
    line(3, "DELETED", 6000, duration_ms=600, message_id="a"),
]


def hostile() -> list[Line]:
    about = {"queue": EVIL + "q" * 80, "account": EVIL, "type": "\u202e" + EVIL, "endpoint": EVIL, "reason": EVIL * 3}
    events = [("SENT", "DEAD_LETTERED")[number % 2] for number in range(40)]
    return [
        line(number, event, number * 400_000, message_id=str(number // 2), size=10**12, receive_count=3, **about)
        for number, event in enumerate(events)
    ]


LINES = {"rich": a_day(per_minute=6, minutes=300), "tiny": TINY, "empty": [], "hostile": hostile()}


@pytest.fixture(scope="module")
def pages(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for name, lines in LINES.items():
        result, start, end = report.transform(frame(spark, lines), Ask("report"))
        made[name] = folder / f"{name}.html"
        made[name].write_text(page(result, About(start, end, START + HOUR, "tables/events")))
    return made


class Words(HTMLParser):
    """What a page says, tag by tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.words = set[str](), list[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.parametrize("width", [420, 1400, 2560])
@pytest.mark.parametrize("name", LINES)
def test_nothing_on_it_overflows_or_overlaps(pages: dict[str, Path], name: str, width: int) -> None:
    found = chromium.measured(pages[name], width)
    assert found["needed"] <= found["width"]
    assert {what: found[what] for what in ("cards", "labels", "outside", "heads", "numbers") if found[what]} == {}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_can_be_looked_at_by_day_and_by_night(pages: dict[str, Path], tmp_path: Path, dark: bool) -> None:
    picture = chromium.picture(pages["rich"], tmp_path / "page.png", dark=dark)
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 100_000


def test_the_numbers_on_it_are_those_of_the_rows(pages: dict[str, Path]) -> None:
    words = Words(chromium.seen(pages["rich"])).words
    for event, title in (("SENT", "Sent"), ("DELETED", "Deleted"), ("DEAD_LETTERED", "Dead letters")):
        expected = count(sum(one["event"] == event for one in LINES["rich"]))
        assert words[words.index(title) + 1] == expected
    handling = sorted(one["duration_ms"] for one in LINES["rich"] if one["event"] == "DELETED")
    assert words[words.index("Handling time") :][:4].count("p50") == 1
    assert words[words.index("p50", words.index("Handling time")) + 1] == duration(handling[(len(handling) - 1) // 2])


def test_names_with_markup_are_shown_as_they_are_written(pages: dict[str, Path]) -> None:
    seen = Words(chromium.seen(pages["hostile"]))
    assert not seen.tags & {"img", "script"}
    assert EVIL + "q" * 80 in seen.words
    assert "Penstock report · 2026-11-16 00:00 – 04:20 UTC" in seen.words


def test_it_asks_for_nothing_outside_itself(pages: dict[str, Path]) -> None:
    text = pages["rich"].read_text()
    assert not re.search(r"https?:|url\(|@import|<script|<link|\ssrc=", text)
    assert "default-src 'none'" in text


def test_what_did_not_happen_is_said(pages: dict[str, Path]) -> None:
    words = Words(pages["empty"].read_text()).words
    assert "no events yet" in words
    assert "no message became a dead letter" in words
    assert "no message was delivered again, expired or became a dead letter" in words
    rich = " ".join(Words(pages["hostile"].read_text()).words)
    assert "no message was delivered again; no messages expired" in rich


@pytest.fixture
def out(spark: SparkSession, tmp_path: Path) -> str:
    folder = str(tmp_path / "tables")
    open_table(spark, folder, EVENTS).append(frame(spark, LINES["rich"]), Batch("q" * 32, 0))
    return folder


def test_a_page_of_one_queue_in_one_hour_has_only_that(
    spark: SparkSession, out: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to = tmp_path / "orders.html"
    end = START + HOUR
    assert (
        report.run(spark, Ask("report", out=out, start_ms=START, end_ms=end, queue=("orders",), own={"page": str(to)}))
        == 0
    )
    words = Words(to.read_text()).words
    chosen = [one for one in LINES["rich"] if one["queue"] == "orders" and one["ts_ms"] < end]
    assert words[words.index("Sent") + 1] == count(sum(one["event"] == "SENT" for one in chosen))
    assert "2026-11-16 00:00 – 01:00 UTC · 1 h · queue orders" in words
    assert capsys.readouterr().out == f"report: {len(chosen):,} events → {to}\n"


def test_it_stands_beside_the_tables_unless_told_otherwise_and_warns_of_what_is_missing(
    spark: SparkSession, out: str
) -> None:
    missing = spark.sql("select 1L found_ms, 'land' job, date'2026-11-16' date")
    for column in CORRUPT.columns.names[2:]:
        missing = missing.selectExpr("*", f"null {column}")
    open_table(spark, out, CORRUPT).append(missing, Batch("q" * 32, 0))
    report.run(spark, Ask("report", out=out))
    assert "1 findings in the table _corrupt" in Path(out, "report.html").read_text()


def test_a_folder_without_events_is_told_what_makes_them(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"no table 'events' in .*: `penstock pipeline land --out .*` makes it"):
        report.run(spark, Ask("report", out=str(tmp_path)))
    assert list(tmp_path.iterdir()) == []


def test_a_time_that_ends_before_it_begins_is_refused(spark: SparkSession, out: str) -> None:
    with pytest.raises(TableError, match="the time to report is empty"):
        report.run(spark, Ask("report", out=out, start_ms=START + 5, end_ms=START))
