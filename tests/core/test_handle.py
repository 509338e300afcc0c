"""Receipt handles: sealed claims."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.core.errors import ServiceError
from penstock.core.handle import Seal

KEY = b"k" * 32


@given(st.integers(0, 2**63 - 1), st.binary(max_size=64))
def test_a_handle_gives_back_its_claim(queue_id: int, claim: bytes) -> None:
    assert Seal(KEY, queue_id).unseal(Seal(KEY, queue_id).seal(claim)) == claim


def test_every_changed_bit_is_noticed() -> None:
    raw = base64.b64decode(Seal(KEY, 7).seal(b"claim"))
    for position in range(len(raw) * 8):
        changed = bytearray(raw)
        changed[position // 8] ^= 1 << position % 8
        with pytest.raises(ServiceError) as refused:
            Seal(KEY, 7).unseal(base64.b64encode(changed).decode())
        assert refused.value.shape == "ReceiptHandleIsInvalid"


@pytest.mark.parametrize("garbage", ["garbage", "", "AQEB", "ümlaut", "A" * 10_000, "AQ==\n", "\x00"])
def test_garbage_is_refused_by_name(garbage: str) -> None:
    with pytest.raises(ServiceError) as refused:
        Seal(KEY, 7).unseal(garbage)
    assert refused.value.message == f'The input receipt handle "{garbage}" is not a valid receipt handle.'


def test_a_handle_of_another_queue_is_refused() -> None:
    handle = Seal(KEY, 7).seal(b"claim")
    with pytest.raises(ServiceError) as refused:
        Seal(KEY, 8).unseal(handle)
    assert refused.value.message == f'The receipt handle "{handle}" is not valid for this queue.'


def test_a_handle_sealed_with_another_key_is_refused() -> None:
    with pytest.raises(ServiceError):
        Seal(KEY, 7).unseal(Seal(b"o" * 32, 7).seal(b"claim"))


def test_a_handle_never_holds_the_marks_that_clients_put_into_handles() -> None:
    for number in range(1000):
        assert "-..s3" not in Seal(KEY, number).seal(number.to_bytes(28, "big"))
