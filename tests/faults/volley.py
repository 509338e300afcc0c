"""Many connections, one request on each, all on their way before any reply is read: the server meets them at once."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import MappingProxyType
from typing import Any, NamedTuple

from tally import count

from .client import Place
from .raw import Raw, call

SECONDS = 30


class Ask(NamedTuple):
    action: str
    queue: str = ""
    params: Mapping[str, Any] = MappingProxyType({})


class Outcome(NamedTuple):
    """`code` is "ok", or an error's."""

    code: str
    reply: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.reply.get("Messages", [])


class Volley:
    def __init__(self, server: Place, connections: int) -> None:
        self._server, self._open = server, ExitStack()
        self._wires = [self._open.enter_context(Raw(server, SECONDS)) for _ in range(connections)]

    def close(self) -> None:
        self._open.close()

    def fire(self, asks: Sequence[Ask]) -> list[Outcome]:
        """The outcome of each, in the order given. A reply of the 500s is a failure of the test."""
        asked = [call(self._server, ask.action, ask.queue, **ask.params) for ask in asks]
        wires = self._wires[: len(asks)]
        for wire, data in zip(wires, asked, strict=True):
            wire.socket.sendall(data)
        count(requests=len(asks))
        return [self._read(wire) for wire in wires]

    def _read(self, wire: Raw) -> Outcome:
        answer = wire.answer()
        assert answer, "the server hung up"
        assert answer.status < 500, answer
        reply = json.loads(answer.body or b"{}")
        code = "ok" if answer.status == 200 else reply["__type"].rpartition("#")[2]
        return Outcome(code, reply)


def codes(outcomes: Sequence[Outcome]) -> Counter[str]:
    return Counter(outcome.code for outcome in outcomes)
