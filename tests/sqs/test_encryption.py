"""Keys of KMS that queues name: those that the operator declares, and no others."""

import pytest

from penstock.core.keyring import Keyring
from penstock.core.vault import KEY_BYTES, Vault

from .clients import Client
from .harness import World, make, refused

UNKNOWN = {"KmsMasterKeyId": "alias/unknown"}
NOT_FOUND = "Alias alias/unknown is not found."


@pytest.mark.parametrize(
    "name", ["alias/orders", "alias/aws/sqs", "arn:aws:kms:us-east-1:111122223333:alias/orders", "testKeyId"]
)
async def test_a_queue_with_a_declared_key_is_used_like_any_other(client: Client, name: str) -> None:
    queue = await make(client, "orders", KmsMasterKeyId=name)
    assert await queue.attributes("KmsMasterKeyId") == {"KmsMasterKeyId": name}
    await queue.send("hello")
    assert await queue.bodies() == ["hello"]


async def test_a_key_that_nobody_declared_is_refused_when_it_is_set(client: Client) -> None:
    await refused(client, "KmsNotFound", NOT_FOUND, "CreateQueue", QueueName="new", Attributes=UNKNOWN)
    queue = await make(client, "orders")
    await queue.refuses("KmsNotFound", NOT_FOUND, "SetQueueAttributes", Attributes=UNKNOWN)
    missing = "Key '1234' does not exist"
    await queue.refuses("KmsNotFound", missing, "SetQueueAttributes", Attributes={"KmsMasterKeyId": "1234"})
    assert await queue.attributes("SqsManagedSseEnabled", "KmsMasterKeyId") == {"SqsManagedSseEnabled": "true"}


async def test_a_key_that_is_disabled_is_refused_when_it_is_set(client: Client) -> None:
    queue = await make(client, "orders")
    off = {"KmsMasterKeyId": "alias/off"}
    await queue.refuses("KmsDisabled", "alias/off is disabled.", "SetQueueAttributes", Attributes=off)


@pytest.mark.parametrize(
    ("declared", "disabled", "error"),
    [((), (), "KmsNotFound"), (("alias/orders",), ("alias/orders",), "KmsDisabled")],
)
async def test_a_queue_whose_key_went_answers_so_and_loses_nothing(
    world: World, client: Client, declared: tuple[str, ...], disabled: tuple[str, ...], error: str
) -> None:
    queue = await make(client, "orders", KmsMasterKeyId="alias/orders")
    await queue.send("kept")
    before = world.site.keyring
    after = Keyring(Vault([b"m" * KEY_BYTES]), declared, disabled)
    world.store.attach_keys(after)
    object.__setattr__(world.site, "keyring", after)
    await queue.refuses(error, None, "SendMessage", MessageBody="refused")
    entries = [{"Id": "1", "MessageBody": "refused"}]
    await queue.refuses(error, None, "SendMessageBatch", Entries=entries)
    await queue.refuses(error, None, "ReceiveMessage")
    assert await queue.counts() == (1, 0, 0)
    object.__setattr__(world.site, "keyring", before)
    world.store.attach_keys(before)
    assert await queue.bodies() == ["kept"]
    assert [call.result for call in world.calls if call.status >= 500] == []
