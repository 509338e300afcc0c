"""A whole server in this process, and clients that hand their bytes to its connections without a socket.

What is left is what a request costs us: no system calls but those of the store. It is served by Python alone, as native
code reads sockets by itself. It refuses to know what is measured.
"""

import asyncio
import io
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from penstock import config
from penstock.app import Server
from penstock.bench.signing import Signer, Template
from penstock.bench.target import Target
from penstock.bench.wire_json import JsonWire
from penstock.core.queue import QueueKey
from penstock.listeners.http_connection import HttpConnection
from penstock.logs import configure_logs
from penstock.stores.sqlite.database import Database

QUEUE, PEER = "path", "127.0.0.1"
BODY = b"x" * 256
ACTIONS = ("SendMessage", "ReceiveMessage", "DeleteMessage")


@asynccontextmanager
async def running(
    folder: Path, environ: Mapping[str, str], synchronous: str, attributes: Mapping[str, str] | None = None
) -> AsyncIterator[Server]:
    """As a user would start it, with the settings of `environ`; `synchronous` is what SQLite is told, `attributes` are
    those of the queue."""
    ours = {
        "PENSTOCK_LISTEN": "127.0.0.1:0",
        "PENSTOCK_DATA": str(folder),
        "PENSTOCK_ROOT_ACCESS_KEY": Target.access_key,
        "PENSTOCK_ROOT_SECRET_KEY": Target.secret_key,
        "PENSTOCK_NATIVE": "off",
    }
    settings = config.load({}, {**environ, **ours}).settings
    configure_logs(settings.log_format, "error")
    server = Server(settings)
    with redirect_stdout(io.StringIO()):
        await server.start()
    try:
        key = QueueKey(settings.region, settings.root_account, QUEUE)
        await server.store.create_queue(key, dict(attributes or {}), {}, server.clock.now())
        database: Database = server.store.database  # type: ignore[attr-defined]
        database.commit()  # what a background loop may have begun
        database.execute(f"PRAGMA synchronous={synchronous}")
        yield server
    finally:
        await server.stop()


def one_at_a_time(server: Server) -> None:
    """Requests are taken from their first step to their last in the order in which they came, as they once were; they
    share commits still."""
    listener = server.listener

    def run() -> None:
        waiting, listener._waiting = listener._waiting, []
        for connection in waiting:
            connection.run()

    listener._run = run  # type: ignore[method-assign]
    server.store.expect = lambda calls: None  # type: ignore[method-assign]


@dataclass
class Load:
    """So many clients, each with a connection of its own, each sending, receiving and deleting `batch` messages a time.

    Unless they are alike, a third of them begins with a second message and a third with a third one: then every kind of
    request is in every commit. `doing` is told the action before the bytes are handed over; `seconds` is the processor
    time that clients took. Clients that only send do the first step, again and again. `key` is who they are.
    """

    server: Server
    clients: int
    cycles: int
    alike: bool = False
    doing: Callable[[str], None] = lambda action: None
    batch: int = 1
    only_send: bool = False
    key: tuple[str, str] = (Target.access_key, Target.secret_key)
    body: bytes = BODY

    async def run(self) -> None:
        settings = self.server.settings
        target = Target("127.0.0.1", 1, "http", *self.key, region=settings.region)
        signer, wire = Signer(target), JsonWire()
        signer.renew(time.time())
        url = f"{target.endpoint}/{settings.root_account}/{QUEUE}"
        sent, gone, several = wire.send(url), wire.delete(url), ""
        receive = wire.plain("ReceiveMessage", {"QueueUrl": url, "MaxNumberOfMessages": self.batch})
        body = self.body
        if self.batch > 1:
            sent, gone, several = wire.send_batch(url), wire.delete_batch(url), "Batch"
            body = wire.send_entries([body] * self.batch)
        self.send = Template(signer, wire.headers(f"SendMessage{several}"), sent.before, sent.after).request(body)
        self.receive = Template(signer, wire.headers("ReceiveMessage"), receive).constant()
        self.delete = Template(signer, wire.headers(f"DeleteMessage{several}"), gone.before, gone.after)
        self.done, self.seconds, self.loop = 0, 0.0, asyncio.get_running_loop()
        self.finished = self.loop.create_future()
        clients = [Client(self) for _ in range(self.clients)]
        for number, client in enumerate(clients):
            client.more = 0 if self.alike or self.only_send else number % 3
            self.loop.call_soon(client.next, b"")
        await self.finished

    def count(self) -> bool:
        """One cycle is over; whether there is another to do."""
        self.done += 1
        if self.done == self.cycles:
            self.finished.set_result(None)
        return self.done <= self.cycles - self.clients


class Client(asyncio.Transport):
    """The other end of a connection. What the server writes is read in the loop's next turn, as from a socket."""

    def __init__(self, load: Load) -> None:
        super().__init__()
        self.load, self.step, self.more = load, 0, 0
        self.connection = HttpConnection(load.server.listener, load.loop, PEER, False)
        self.connection.connection_made(self)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.load.loop.call_soon(self.next, bytes(data))

    def is_closing(self) -> bool:
        return False

    def next(self, reply: bytes) -> None:
        load, started = self.load, time.thread_time()
        if reply and not reply.startswith(b"HTTP/1.1 200 "):
            load.finished.set_exception(RuntimeError(f"the server refused a request: {reply.decode()}"))
            return
        if self.step == 1 and self.more:
            self.step, self.more = 0, self.more - 1
        elif self.step == (1 if load.only_send else 3):
            self.step = 0
            if not load.count():
                return
        action = ACTIONS[self.step]
        data = (load.send, load.receive, b"")[self.step] or self._delete(reply)
        self.step += 1
        load.doing(action)
        load.seconds += time.thread_time() - started
        self.connection.data_received(data)

    def _delete(self, reply: bytes) -> bytes:
        if self.load.batch > 1:
            wire, body = JsonWire(), reply[reply.find(b"\r\n\r\n") + 4 :]
            return self.load.delete.request(wire.delete_entries(message.handle for message in wire.received(body)))
        begin = reply.find(b'"ReceiptHandle":"') + len(b'"ReceiptHandle":"')
        return self.load.delete.request(reply[begin : reply.find(b'"', begin)])
