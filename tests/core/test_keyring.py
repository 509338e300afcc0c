"""Keys by the names that queues give them: each opens its own, and those that are not to be used refuse."""

import pytest

from penstock.core.keyring import MANAGED, KeyRefused, Keyring
from penstock.core.vault import KEY_BYTES, Unopenable, Vault

OLD, NEW = b"o" * KEY_BYTES, b"n" * KEY_BYTES


def test_what_one_key_sealed_no_other_opens() -> None:
    master = Vault([OLD])
    keyring = Keyring(master, ["alias/a", "alias/b"])
    sealed = keyring.vault("alias/a").seal(b"a secret", b"")
    assert keyring.vault("alias/a").open(sealed, b"") == b"a secret"
    for other in (keyring.vault("alias/b"), keyring.vault(MANAGED), master):
        with pytest.raises(Unopenable, match="is not here"):
            other.open(sealed, b"")


def test_a_key_is_the_same_whoever_else_is_declared_and_whatever_it_is_called_by() -> None:
    sealed = Keyring(Vault([OLD]), ["alias/a"]).vault("alias/a").seal(b"a secret", b"")
    again = Keyring(Vault([NEW, OLD]), ["alias/z", "alias/a"])
    assert again.vault("arn:aws:kms:eu-west-1:111122223333:alias/a").open(sealed, b"") == b"a secret"


@pytest.mark.parametrize(
    ("name", "shape"), [("alias/unknown", "KmsNotFound"), ("", "KmsNotFound"), ("alias/off", "KmsDisabled")]
)
def test_a_key_that_is_not_to_be_used_refuses_and_can_still_be_sealed_anew(name: str, shape: str) -> None:
    keyring = Keyring(Vault([OLD]), ["alias/a"], ["alias/off"])
    with pytest.raises(KeyRefused) as refusal:
        keyring.vault(name)
    assert refusal.value.shape == shape
    vault = keyring.any_vault(name)
    assert vault.open(vault.seal(b"a secret", b""), b"") == b"a secret"
