"""HTML and SVG as text in which nothing of the data can become markup: what was not made here is escaped."""

from collections.abc import Iterable
from html import escape
from typing import Any

VOID = {"br", "col", "meta", "rect", "line", "circle", "path"}


class Markup(str):
    """Text that is markup already."""


def element(name: str, *children: str | Iterable[str], **attributes: Any) -> Markup:
    """`class_` is class, `stroke_width` is stroke-width; an attribute that is None is left out."""
    head = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID and not children:
        return Markup(f"<{name}{head}/>")
    return Markup(f"<{name}{head}>{joined(*children)}</{name}>")


def joined(*children: str | Iterable[str]) -> Markup:
    return Markup("".join(_child(child) for child in children))


def _child(child: str | Iterable[str]) -> str:
    if isinstance(child, Markup):
        return child
    if isinstance(child, str):
        return escape(child)
    return joined(*child)


def _text(value: Any) -> str:
    """Numbers with one decimal: a tenth of a pixel is more than anybody sees."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
