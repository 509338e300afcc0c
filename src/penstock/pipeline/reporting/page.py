"""The page of a report: figures → one HTML file that needs nothing but itself: header, totals, panels, footer."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from penstock.pipeline.reporting.figures import Figures
from penstock.pipeline.reporting.markup import Markup, element, joined
from penstock.pipeline.reporting.panels import PLOTS, TABLES, causes
from penstock.pipeline.reporting.quantities import MINUTE, count, duration, headline, moment, share, short, size

TEMPLATE = Path(__file__).with_name("page.html")


@dataclass(frozen=True)
class About:
    """What the page is of."""

    start_ms: int
    end_ms: int
    made_ms: int
    source: str
    queue: Sequence[str] = ()
    account: Sequence[str] = ()
    corrupt: int = 0
    """Findings in `_corrupt`: events that the tables do not have."""


def page(figures: Figures, about: About) -> str:
    title = f"Penstock report · {_range(about)}"
    body = joined(
        _header(about),
        _warning(about),
        _totals(figures),
        element("main", *(panel(figures) for panel in PLOTS)),
        element("div", *(panel(figures) for panel in TABLES), class_="pair"),
        causes(figures),
        _footer(figures, about),
    )
    return Template(TEMPLATE.read_text()).substitute(title=element("x", title)[3:-4], body=body)


def _range(about: About) -> str:
    if about.start_ms == about.end_ms:
        return "no events yet"
    first, last = (moment(ms, "%Y-%m-%d %H:%M") for ms in (about.start_ms, about.end_ms))
    if first == last:
        first, last = (moment(ms) for ms in (about.start_ms, about.end_ms))
    return f"{first} – {last[11:] if first[:10] == last[:10] else last} UTC"


def _header(about: About) -> Markup:
    only = [
        f"{what} {', '.join(names)}" for what, names in (("queue", about.queue), ("account", about.account)) if names
    ]
    words = [_range(about), duration(about.end_ms - about.start_ms) if about.end_ms > about.start_ms else "", *only]
    return element("header", element("h1", "Penstock report"), element("p", " · ".join(filter(None, words))))


def _warning(about: About) -> Markup:
    if not about.corrupt:
        return Markup()
    words = f"{count(about.corrupt)} findings in the table _corrupt: some events could not be read and are not in here."
    return element("p", words, class_="warning")


def _footer(figures: Figures, about: About) -> Markup:
    other = figures.totals
    words = (
        f"{count(other['events'])} events of {about.source}. Also in this time: {count(other['empty_receives'])} "
        f"receives without a message, {count(other['deduplicated'])} sends dropped as repetitions, "
        f"{count(other['denied'])} requests denied. Made {moment(about.made_ms, '%Y-%m-%d %H:%M')} UTC."
    )
    return element("footer", words)


# The totals


def _totals(figures: Figures) -> Markup:
    all_, ended = figures.totals, figures.totals["deleted"] + figures.totals["failed"]
    gauges = figures.gauges
    oldest = gauges[max(gauges)]["oldest_at_end"] if gauges else None
    when = f"at {moment(gauges[max(gauges)]['last_ms'], '%b %d %H:%M')}" if gauges else "no gauge in this time"
    mean = f"{size(all_['bytes'] / all_['sent'])} a message" if all_["sent"] else ""
    again = f"{count(all_['redelivered'])} of them again" if all_["redelivered"] else ""
    return element(
        "dl",
        _total("Sent", headline(all_["sent"]), f"{short(_per_minute(figures, 'sent'))} a minute", "blue"),
        _total("Received", headline(all_["received"]), again, "orange"),
        _total(
            "Deleted", headline(all_["deleted"]), f"{share(all_['deleted'], all_['received'])} of deliveries", "green"
        ),
        _total("Bytes sent", size(all_["bytes"]), mean, "grey"),
        _total("Failed", share(all_["failed"], ended), f"{count(all_['failed'])} of {count(ended)} ended", "red"),
        _total("Oldest message", duration(oldest) if oldest is not None else "none" if gauges else "–", when, "grey"),
        _total("Dead letters", headline(all_["dead"]), f"{count(all_['expired'])} expired", "red"),
        class_="totals",
    )


def _total(name: str, number: str, about: str, tone: str) -> Markup:
    number_, about_ = element("dd", number, class_="number"), element("dd", about, class_="about")
    return element("div", element("dt", name), number_, about_, class_=f"total {tone}")


def _per_minute(figures: Figures, name: str) -> float:
    minutes = figures.span.buckets * figures.span.bucket_ms / MINUTE
    return figures.totals[name] / minutes if minutes else 0
