"""The keys under which queues are encrypted, by the names that `KmsMasterKeyId` gives them.

There is the key of queues that name none, and those that the operator declares. Each is a vault of its own, derived
from the master key. One that is declared no more, or that is disabled, refuses in the words of SQS what needs it; what
was sealed with it is kept, and opens when the key is back.
"""

from collections.abc import Collection

from penstock.core.errors import ServiceError
from penstock.core.vault import Vault

MANAGED = "alias/aws/sqs"
"""The key of `SqsManagedSseEnabled`; it can be named, too."""


class KeyRefused(ServiceError):
    """What was asked for needs a key that cannot be used now; nothing was changed."""


class Keyring:
    def __init__(self, vault: Vault, declared: Collection[str] = (), disabled: Collection[str] = ()) -> None:
        self._vault, self._vaults = vault, dict[str, Vault]()
        self._known, self._disabled = frozenset((MANAGED, *declared, *disabled)), frozenset(disabled)

    def check(self, key_id: str) -> None:
        """Raise KeyRefused unless the key can be used."""
        name = plain_name(key_id)
        if name not in self._known:
            what = f"Alias {name} is not found." if name.startswith("alias/") else f"Key '{name}' does not exist"
            raise KeyRefused("KmsNotFound", what)
        if name in self._disabled:
            raise KeyRefused("KmsDisabled", f"{name} is disabled.")

    def vault(self, key_id: str) -> Vault:
        """Of a key that can be used."""
        self.check(key_id)
        return self.any_vault(key_id)

    def any_vault(self, key_id: str) -> Vault:
        """Whether or not its key can be used: for those who read nothing, and see to it that it can be read one day."""
        name = plain_name(key_id)
        if name not in self._vaults:
            self._vaults[name] = self._vault.derived(f"penstock kms key {name}")
        return self._vaults[name]


def plain_name(key_id: str) -> str:
    """`alias/orders` also of `arn:aws:kms:REGION:ACCOUNT:alias/orders`."""
    if key_id.startswith("arn:aws:kms:"):
        return key_id.split(":", 5)[-1].removeprefix("key/")
    return key_id
