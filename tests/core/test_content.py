"""What a message may contain, and the digests clients check. The digests were recorded from the real service."""

from types import SimpleNamespace

import pytest

from penstock.core.content import (
    check_body,
    chosen,
    md5_of_attributes,
    md5_of_body,
    md5_of_trace,
    read_attributes,
    size_of,
)
from penstock.core.errors import ServiceError
from penstock.core.limits import Limits
from penstock.core.message import Attribute, Attributes


def given(data_type: str | None, text: str | None = None, raw: bytes | None = None) -> SimpleNamespace:
    return SimpleNamespace(
        DataType=data_type, StringValue=text, BinaryValue=raw, StringListValues=None, BinaryListValues=None
    )


def text(**values: str) -> Attributes:
    return {name: Attribute("String", value) for name, value in values.items()}


@pytest.mark.parametrize(
    ("attributes", "digest"),
    [
        (text(General="Kenobi", Hello="There", **{"Help.Me": "Me"}), "4c360f3fdafd970e05fae2f149d997f5"),
        (text(Hello="There"), "a311262e065454b75da111d535b8dacd"),
        ({"timestamp": Attribute("Number", "1493147359900")}, "235c5c510d26fb653d073faed50ae77c"),
        (
            {"attr1": Attribute("Binary", b"traceparent\x1e00-774062d6c37081a5a0b9b5b88e30627c-2d2482211f6489da-01")},
            "8cbe4db156db8a94db8b801b7addb984",
        ),
        (
            text(id="2018fc74-4f77-1a5a-1be0-c2d037d5052b", contentType="application/json")
            | {"timestamp": Attribute("Number.java.lang.Long", "1602845432024")},
            "b12289320bb6e494b18b645ef562b4a9",
        ),
    ],
)
def test_the_digest_of_attributes_is_amazon_s(attributes: Attributes, digest: str) -> None:
    assert md5_of_attributes(attributes) == digest


def test_the_digest_of_a_trace_header_is_amazon_s() -> None:
    trace = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
    assert md5_of_trace(trace) == "5ae4d5d7636402d80f4eb6d213245a88"


@pytest.mark.parametrize(
    ("body", "digest"),
    [("foobar", "3858f62230ac3c915f300c664312c63f"), ("\ufffd" * 4, "4906fc8bbfeecb5625100a7b6edf9f7a")],
)
def test_the_digest_of_a_body_is_that_of_its_utf_8(body: str, digest: str) -> None:
    assert md5_of_body(body) == digest


@pytest.mark.parametrize("body", ["\t\n\r", " ", "\ud7ff", "\ue000", "\ufffd", "\U00010000", "\U0010ffff", "plain"])
def test_every_character_that_xml_can_carry_is_allowed(body: str) -> None:
    check_body(body)


@pytest.mark.parametrize("character", ["\x00", "\x08", "\x0b", "\x1f", "\ufffe", "\uffff", "\ud800"])
@pytest.mark.parametrize("around", ["{}", "a{}b", "ü{}"])
def test_the_first_character_that_it_cannot_carry_is_named(character: str, around: str) -> None:
    with pytest.raises(ServiceError) as refused:
        check_body(around.format(character))
    assert refused.value.shape == "InvalidMessageContents"
    assert f"'#x{ord(character):X}'" in refused.value.message


@pytest.mark.parametrize("number", ["0", "-1", "+1.5", "1e10", ".5", "1.", "9" * 38, "1e126", "1e-128", "0e9999"])
def test_a_number_may_be_written_like_this(number: str) -> None:
    assert read_attributes({"n": given("Number", number)}, Limits()) == {"n": Attribute("Number", number)}


@pytest.mark.parametrize("number", ["", "abc", "1 ", "0x10", "1e", "NaN", "Infinity", "9" * 39, "1e127", "1e-129", "١"])
def test_a_number_may_not_be_written_like_that(number: str) -> None:
    with pytest.raises(ServiceError):
        read_attributes({"n": given("Number", number)}, Limits())


def test_size_counts_names_types_and_values_in_bytes() -> None:
    attributes = {"k": Attribute("String", "ü"), "b": Attribute("Binary.png", b"\0\1\2")}
    assert size_of("ä", attributes) == 2 + (1 + 6 + 2) + (1 + 10 + 3)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ([], set()),
        (["All"], {"Hello", "Help.Me", "Other"}),
        ([".*"], {"Hello", "Help.Me", "Other"}),
        (["*"], {"Hello", "Help.Me", "Other"}),
        (["Hel.*"], {"Hello", "Help.Me"}),
        (["Hel.*", "Oth.*"], {"Hello", "Help.Me", "Other"}),
        (["Help"], set()),
        (["Other", "AWS.", "..foo"], {"Other"}),
    ],
)
def test_a_receiver_gets_the_attributes_it_asked_for(wanted: list[str], names: set[str]) -> None:
    everything = text(Hello="a", Other="c", **{"Help.Me": "b"})
    assert set(chosen(everything, wanted)) == names
