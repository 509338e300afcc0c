"""The panels of a report: each is figures → a plot or a table, or what is said when there is nothing to show.

An empty plot could as well be a broken one, so no panel shows one.
"""

from collections.abc import Callable, Sequence
from typing import Any

from penstock.pipeline.reporting import charts
from penstock.pipeline.reporting.charts import Series
from penstock.pipeline.reporting.figures import Figures, Row
from penstock.pipeline.reporting.markup import Markup, element
from penstock.pipeline.reporting.quantities import MINUTE, count, counted, duration, moment, short, timed

NOT_GAUGED = "no queue was gauged in this time: the server does it each minute"
PERCENTILES = (("p50", "low"), ("p95", "mid"), ("p99", "high"))


def _panel(title: str, *content: str | Sequence[str], whole: bool = False) -> Markup:
    return element("section", element("h2", title), *content, class_="whole" if whole else None)


def _nothing(words: str) -> Markup:
    return element("div", words, class_="nothing")


def _values(figures: Figures, name: str, of: Callable[[Any], float | None]) -> list[float | None]:
    rows = figures.timeline
    return [of(rows[bucket][name]) if bucket in rows else of(None) for bucket in range(figures.span.buckets)]


def _traffic(figures: Figures) -> Markup:
    title = "Traffic"
    names = (("sent", "blue"), ("received", "orange"), ("deleted", "green"))
    if not any(figures.totals[name] for name, _ in names):
        return _panel(title, _nothing("no messages were sent, received or deleted"))
    minutes = figures.span.bucket_ms / MINUTE
    series = [
        Series(name, tone, _values(figures, name, lambda n: (n or 0) / minutes), count(figures.totals[name]))
        for name, tone in names
    ]
    return _panel(title, charts.legend(series), charts.lines(figures.span, series, counted("messages per minute")))


def _percentiles(title: str, name: str, what: str, nothing: str) -> Callable[[Figures], Markup]:
    def panel(figures: Figures) -> Markup:
        overall = figures.totals[name]
        if overall is None:
            return _panel(title, _nothing(nothing))

        def series(number: int) -> Series:
            label, tone = PERCENTILES[number]
            values = _values(figures, name, lambda several: several and several[number])
            return Series(label, tone, values, duration(overall[number]))

        all_ = [series(number) for number in range(len(PERCENTILES))]
        plot = charts.lines(figures.span, all_, timed("time"), may_be_logarithmic=True)
        return _panel(title, element("p", what), charts.legend(all_), plot)

    return panel


def _depth(figures: Figures) -> Markup:
    title = "Depth"
    names = (("visible", "blue"), ("in_flight", "orange"), ("delayed", "grey"))
    if not figures.gauges:
        return _panel(title, _nothing(NOT_GAUGED))
    if not any(row[name] for row in figures.gauges.values() for name, _ in names):
        return _panel(title, _nothing("every queue was empty each time it was gauged"))
    rows, last = figures.gauges, figures.gauges[max(figures.gauges)]
    buckets = range(figures.gauge_span.buckets)
    series = [
        Series(
            name.replace("_", " "),
            tone,
            [rows[at][name] if at in rows else None for at in buckets],
            count(last[name] or 0),
        )
        for name, tone in names
    ]
    plot = charts.columns(figures.gauge_span, series, counted("messages held"))
    return _panel(title, charts.legend(series), plot)


def _age(figures: Figures) -> Markup:
    title = "Age of the oldest message"
    rows = figures.gauges
    if not rows:
        return _panel(title, _nothing(NOT_GAUGED))
    known = [row["oldest"] for row in rows.values() if row["oldest"] is not None]
    if not known:
        return _panel(title, _nothing("no queue held a message when it was gauged"))
    values = [rows[at]["oldest"] if at in rows else None for at in range(figures.gauge_span.buckets)]
    series = [Series("oldest in any queue", "blue", values, f"at most {duration(max(known))}")]
    return _panel(title, charts.legend(series), charts.lines(figures.gauge_span, series, timed("age"), True))


def _failures(figures: Figures) -> Markup:
    title = "Failures"
    names = (
        ("redelivered", "orange", "delivered again", "no message was delivered again"),
        ("expired", "grey", "expired", "no messages expired"),
        ("dead", "red", "dead letters", "no message became a dead letter"),
    )
    absent = [nothing for name, _, _, nothing in names if not figures.totals[name]]
    if len(absent) == len(names):
        return _panel(title, _nothing("no message was delivered again, expired or became a dead letter"))
    series = [
        Series(label, tone, _values(figures, name, lambda n: n or 0), count(figures.totals[name]))
        for name, tone, label, _ in names
        if figures.totals[name]
    ]
    unit = counted(f"messages in {duration(figures.span.bucket_ms)}")
    note = element("p", "; ".join(absent), class_="note") if absent else Markup()
    return _panel(title, charts.legend(series), charts.columns(figures.span, series, unit), note)


def _top(title: str, rows: str, name: Callable[[Row, Figures], Markup], nothing: str) -> Callable[[Figures], Markup]:
    def panel(figures: Figures) -> Markup:
        found: Sequence[Row] = getattr(figures, rows)
        if not found:
            return _panel(title, _nothing(nothing))
        most = max(row["sent"] + row["received"] for row in found) or 1
        keys = charts.legend([Series("sent", "blue", ()), Series("received", "orange", ())])
        heads = (("", None), ("", None), ("sent", "n"), ("received", "n"), ("failed", "n"))
        lines = [
            [name(row, figures), _track(row, most), *(short(row[n]) for n in ("sent", "received", "failed"))]
            for row in found
        ]
        more = found[0]["of"] - len(found)
        note = element("p", f"and {count(more)} more", class_="note") if more else Markup()
        return _panel(title, keys, _table(heads, lines, ("35%", "25%", "12%", "16%", "12%")), note)

    return panel


def _track(row: Row, most: int) -> Markup:
    parts = [
        element("i", class_=tone, style=f"width:{100 * row[name] / most:.2f}%")
        for name, tone in (("sent", "blue"), ("received", "orange"))
        if row[name]
    ]
    return element("div", *parts, class_="track")


def _queue_name(row: Row, figures: Figures) -> Markup:
    named = row["queue"] or "no queue"
    accounts = {other["account"] for other in figures.queues}
    whose = f"{row['account']} " if len(accounts) > 1 else ""
    return element(
        "span", element("small", whose), element("bdi", named), title=f"{row['region']} {row['account']} {named}"
    )


def _account_name(row: Row, figures: Figures) -> Markup:
    return element("bdi", row["account"] or "no account", title=row["account"])


def causes(figures: Figures) -> Markup:
    title = "Dead letters by cause"
    if not figures.causes:
        return _panel(title, _nothing("no message became a dead letter"), whole=True)
    heads = (("queue", None), ("went to", None), ("reason", None), ("type", None), ("account", None))
    numbers = (("messages", "n"), ("deliveries", "n"), ("first", "n"), ("last", "n"))
    lines = [_cause(row) for row in figures.causes]
    more = figures.causes[0]["of"] - len(figures.causes)
    note = element("p", f"and {count(more)} more causes", class_="note") if more else Markup()
    widths = ("14%", "14%", "13%", "12%", "11%", "7%", "7%", "11%", "11%")
    return _panel(title, _table((*heads, *numbers), lines, widths), note, whole=True)


def _cause(row: Row) -> list[str]:
    target = (row["endpoint"] or "").rpartition(":")[2]
    texts = (row["queue"], target, row["reason"], row["type"], row["account"])
    named = [element("bdi", text or "–", title=text) for text in texts]
    times = (moment(row[name], "%b %d %H:%M") for name in ("first_ms", "last_ms"))
    return [*named, count(row["messages"]), count(row["receives"] or 0), *times]


def _table(heads: Sequence[tuple[str, str | None]], lines: Sequence[Sequence[str]], widths: Sequence[str]) -> Markup:
    table = element(
        "table",
        element("colgroup", *(element("col", style=f"width:{width}") for width in widths)),
        element("thead", element("tr", *(element("th", words, class_=kind) for words, kind in heads))),
        element(
            "tbody",
            *(
                element("tr", *(element("td", cell, class_=kind) for cell, (_, kind) in zip(line, heads, strict=True)))
                for line in lines
            ),
        ),
    )
    return element("div", table, class_="wide")


PLOTS: Sequence[Callable[[Figures], Markup]] = (
    _traffic,
    _failures,
    _percentiles(
        "Dwell time", "dwell", "from sending to the first delivery", "no message was delivered for the first time"
    ),
    _percentiles("Handling time", "handling", "from a delivery to its delete", "no message was deleted"),
    _depth,
    _age,
)
TABLES: Sequence[Callable[[Figures], Markup]] = (
    _top("Busiest queues", "queues", _queue_name, "no queue had any traffic"),
    _top("Busiest accounts", "accounts", _account_name, "no account had any traffic"),
)
