"""An operator: somebody who calls Penstock's own operations and knows what to expect."""

from typing import Any

from .clients import Client, Reply
from .harness import World, done


class Operator:
    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, action: str, **params: Any) -> Reply:
        return await self.client.call(action, headers={"X-Amz-Target": f"Penstock.{action}"}, **params)

    async def do(self, action: str, **params: Any) -> dict[str, Any]:
        return done(await self.call(action, **params))

    async def refused(self, code: str, action: str, **params: Any) -> str:
        """The words of a refusal."""
        reply = await self.call(action, **params)
        assert (reply.error_code, 400 <= reply.status < 500) == (code, True), reply.message
        return reply.message

    async def accounts(self) -> dict[str, dict[str, Any]]:
        return {one["AccountId"]: one for one in (await self.do("ListAccounts"))["Accounts"]}

    async def queues(self, **params: Any) -> list[str]:
        return [one["QueueArn"] for one in (await self.do("ListAllQueues", **params))["Queues"]]

    async def account(self, world: World, **params: Any) -> tuple[str, Client]:
        """A new account, and its root."""
        made = await self.do("CreateAccount", **params)
        return made["Account"]["AccountId"], keyed(world, made["RootKey"])


def keyed(world: World, key: dict[str, str]) -> Client:
    """Whoever has this key."""
    return world.client("json", key["AccessKeyId"], secret=key["SecretAccessKey"])
