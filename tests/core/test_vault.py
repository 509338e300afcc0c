"""What is sealed is hidden, bound to what it is about, and opened by old keys as long as they are here."""

import pytest

from penstock.core.vault import KEY_BYTES, Unopenable, Vault

OLD, NEW = b"o" * KEY_BYTES, b"n" * KEY_BYTES


def test_what_was_sealed_is_opened_and_cannot_be_read_without() -> None:
    sealed = Vault([OLD]).seal(b"a secret", b"AKIA1")
    assert b"a secret" not in sealed
    assert Vault([OLD]).open(sealed, b"AKIA1") == b"a secret"


def test_the_same_text_is_never_sealed_the_same_way_twice() -> None:
    vault = Vault([OLD])
    assert vault.seal(b"a secret", b"") != vault.seal(b"a secret", b"")


def test_a_new_key_seals_and_the_old_one_still_opens() -> None:
    sealed = Vault([OLD]).seal(b"a secret", b"")
    assert Vault([NEW, OLD]).open(sealed, b"") == b"a secret"
    with pytest.raises(Unopenable, match="is not here"):
        Vault([OLD]).open(Vault([NEW, OLD]).seal(b"a secret", b""), b"")


def test_it_opens_only_for_what_it_is_about() -> None:
    with pytest.raises(Unopenable, match="not what was sealed"):
        Vault([OLD]).open(Vault([OLD]).seal(b"a secret", b"AKIA1"), b"AKIA2")


@pytest.mark.parametrize("place", range(0, 40, 3))
def test_a_changed_bit_anywhere_is_noticed(place: int) -> None:
    sealed = bytearray(Vault([OLD]).seal(b"a secret", b""))
    sealed[place % len(sealed)] ^= 1
    with pytest.raises(Unopenable):
        Vault([OLD]).open(bytes(sealed), b"")


@pytest.mark.parametrize("length", range(20))
def test_a_text_cut_short_is_refused(length: int) -> None:
    with pytest.raises(Unopenable):
        Vault([OLD]).open(Vault([OLD]).seal(b"", b"")[:length], b"")
