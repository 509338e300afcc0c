"""CBOR is read strictly: what it says is what comes out, and everything else is refused, at a cost of its own size."""

import random
from typing import Any

import pytest

from penstock.aws import cbor


def of(text: str) -> Any:
    return cbor.decode(bytes.fromhex(text))


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("00", 0),
        ("17", 23),
        ("1818", 24),
        ("1903e8", 1000),
        ("1a000f4240", 1_000_000),
        ("1bffffffffffffffff", 2**64 - 1),
        ("20", -1),
        ("3903e7", -1000),
        ("3bffffffffffffffff", -(2**64)),
        ("f93c00", 1.0),
        ("f90001", 5.960464477539063e-08),
        ("fa47c35000", 100_000.0),
        ("fbc010666666666666", -4.1),
        ("f4", False),
        ("f5", True),
        ("f6", None),
        ("f7", None),
        ("4401020304", b"\x01\x02\x03\x04"),
        ("60", ""),
        ("62c3bc", "ü"),
        ("64f0908591", "\U00010151"),
        ("83010203", [1, 2, 3]),
        ("8301820203820405", [1, [2, 3], [4, 5]]),
        ("a26161016162820203", {"a": 1, "b": [2, 3]}),
        ("c11a514b67b0", 1_363_896_240),
        ("c1fb41d452d9ec200000", 1_363_896_240.5),
        ("5f42010243030405ff", b"\x01\x02\x03\x04\x05"),
        ("7f657374726561646d696e67ff", "streaming"),
        ("9fff", []),
        ("9f018202039f0405ffff", [1, [2, 3], [4, 5]]),
        ("bf61610161629f0203ffff", {"a": 1, "b": [2, 3]}),
        ("190001", 1),
    ],
)
def test_what_the_standard_shows_is_read(given: str, value: Any) -> None:
    found = of(given)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    "given",
    [
        "", "18", "1c", "1f", "3f", "62c3", "61ff", "a0a0", "0000", "8201", "9f01", "a161", "a16161", "bf6161ff",
        "ff", "81ff", "c1ff", "a1ff01", "f8ff", "f97c00", "f97e00", "fa7f800000", "fbfff0000000000000", "fc",
        "c074", "c11a", "c16161", "c1f5", "c24101", "c482010a", "d81c80", "df01",
        "5f6161ff", "7f4101ff", "5f5f4101ffff", "7f61c361bcff", "7f6161",
        "a10101", "a1f601", "a2616101616102", "bf616101616102ff",
        "9bffffffffffffffff", "bbffffffffffffffff", "5bffffffffffffffff", "7bffffffffffffffff", "9a7fffffff00",
    ],
)  # fmt: skip
def test_what_is_cut_off_ambiguous_or_of_no_use_is_refused(given: str) -> None:
    with pytest.raises(cbor.Malformed):
        of(given)


@pytest.mark.parametrize("opening", [b"\x81", b"\x9f", b"\xa1\x61a", b"\xbf\x61a", b"\xc1"])
def test_what_is_nested_too_deeply_is_refused(opening: bytes) -> None:
    with pytest.raises(cbor.Malformed):
        cbor.decode(opening * 100_000)


@pytest.mark.parametrize("chunk", [b"", b"\x61a"])
def test_what_has_too_many_parts_is_refused(chunk: bytes) -> None:
    several = b"\x7f" + chunk * cbor.MOST_PARTS + b"\xff" if chunk else b"\x9f" + b"\x00" * cbor.MOST_PARTS + b"\xff"
    with pytest.raises(cbor.Malformed):
        cbor.decode(several)


@pytest.mark.parametrize("value", [0, 23, 24, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32, 2**64 - 1, -1, -25, -(2**64)])
def test_whole_numbers_are_read_as_they_were_written(value: int) -> None:
    assert cbor.decode(cbor.integer(value)) == value


@pytest.mark.parametrize("value", ["", "ü" * 300, "\ud800"])
def test_texts_are_read_as_they_were_written_but_for_what_is_none(value: str) -> None:
    assert cbor.decode(cbor.text(value)) == value.replace("\ud800", "?")


@pytest.mark.parametrize("value", [1_800_000_000, 1_800_000_000.25])
def test_moments_are_marked_as_such(value: float) -> None:
    assert cbor.moment(value)[0] == 0xC1
    assert cbor.decode(cbor.moment(value)) == value


def test_a_number_of_more_than_64_bits_is_not_written() -> None:
    with pytest.raises(ValueError, match="64 bits"):
        cbor.integer(2**64)


def test_any_bytes_are_a_value_or_refused() -> None:
    rng, read = random.Random(8949), 0
    whole = bytes.fromhex("a361619f01820203ff6162bf6163c1fb41d452d9ec200000ff6164835f4101ff7f6161ff83f5f620")
    assert cbor.decode(whole) == {"a": [1, [2, 3]], "b": {"c": 1_363_896_240.5}, "d": [b"\x01", "a", [True, None, -1]]}
    for _ in range(20_000):
        spoiled = bytearray(rng.choice((whole, rng.randbytes(rng.randint(0, 40)))))
        for _ in range(rng.randint(0, 3)):
            if spoiled:
                spoiled[rng.randrange(len(spoiled))] = rng.randrange(256)
        try:
            cbor.decode(bytes(spoiled))
            read += 1
        except cbor.Malformed:
            pass
    assert 1000 < read < 10_000
