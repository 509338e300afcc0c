"""Text of the data never becomes markup."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as some

from penstock.pipeline.reporting.markup import Markup, element, joined


def test_text_is_escaped_and_markup_is_not() -> None:
    assert element("p", "a < b & ", element("b", "c")) == "<p>a &lt; b &amp; <b>c</b></p>"


def test_an_attribute_is_escaped_renamed_or_left_out() -> None:
    assert element("i", class_='"x"', aria_label="y", title=None) == '<i class="&quot;x&quot;" aria-label="y"></i>'


def test_children_may_come_in_lists() -> None:
    assert joined(["<", [Markup("<br/>")]], ">") == "&lt;<br/>&gt;"


class Reader(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.tags.append(tag)


@given(some.text(), some.text())
def test_no_text_makes_a_tag(inside: str, attribute: str) -> None:
    assert Reader(element("p", inside, title=attribute)).tags == ["p"]
