"""A small SQS server that does one thing wrong, to see whether the bench notices."""

import contextlib
import hashlib
import json
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Request = dict[str, Any]


class Liar:
    """An honest queue in memory. Its kinds of lies are subclasses."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: list[dict[str, str]] = []
        self.count = 0

    def answer(self, action: str, request: Request) -> Request:
        with self.lock:
            reply: Request = getattr(self, action)(request)
        return reply

    def CreateQueue(self, request: Request) -> Request:  # noqa: N802 - the names of actions
        return {"QueueUrl": f"http://127.0.0.1/000000000000/{request['QueueName']}"}

    def DeleteQueue(self, request: Request) -> Request:  # noqa: N802
        return {}

    def SendMessage(self, request: Request) -> Request:  # noqa: N802
        self.count += 1
        body = request["MessageBody"]
        names = {"MessageId": str(uuid.uuid4()), "ReceiptHandle": str(uuid.uuid4())}
        self.keep({"Body": body, "Group": request.get("MessageGroupId", "")} | names)
        return {"MessageId": str(uuid.uuid4()), "MD5OfMessageBody": self.md5(body)}

    def keep(self, message: dict[str, str]) -> None:
        self.waiting.append(message)

    def md5(self, body: str) -> str:
        return hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()

    def ReceiveMessage(self, request: Request) -> Request:  # noqa: N802
        return {"Messages": [self.waiting.pop(0)]} if self.waiting else {}

    def DeleteMessage(self, request: Request) -> Request:  # noqa: N802
        return {}

    def DeleteMessageBatch(self, request: Request) -> Request:  # noqa: N802
        return {"Successful": [{"Id": entry["Id"]} for entry in request["Entries"]]}


class Loses(Liar):
    def keep(self, message: dict[str, str]) -> None:
        if self.count != 3:
            super().keep(message)


class Repeats(Liar):
    def keep(self, message: dict[str, str]) -> None:
        super().keep(message)
        if self.count == 3:
            super().keep(message)


class Damages(Liar):
    def keep(self, message: dict[str, str]) -> None:
        super().keep(message | {"Body": message["Body"].replace("x", "y")} if self.count == 3 else message)


class Reorders(Liar):
    def ReceiveMessage(self, request: Request) -> Request:  # noqa: N802
        return {"Messages": [self.waiting.pop()]} if self.waiting else {}


class Unlocks(Liar):
    """Knows no groups. The first two receivers hold a message, and each sends, before either goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.received = False
        self.meeting = threading.Barrier(2)

    def answer(self, action: str, request: Request) -> Request:
        if action == "SendMessage" and self.received:
            with contextlib.suppress(threading.BrokenBarrierError):
                self.meeting.wait(10)
            self.meeting.abort()  # once is enough
        return super().answer(action, request)

    def keep(self, message: dict[str, str]) -> None:
        super().keep(message)
        self.waiting.sort(key=lambda message: message["Group"])

    def ReceiveMessage(self, request: Request) -> Request:  # noqa: N802
        self.received = True
        return super().ReceiveMessage(request)


class Miscounts(Liar):
    def md5(self, body: str) -> str:
        return "0" * 32


class Refuses(Liar):
    def SendMessage(self, request: Request) -> Request:  # noqa: N802
        raise PermissionError("you may not")


@contextmanager
def serving(liar: Liar) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(liar.answer))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(answer: Callable[[str, Request], Request]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """HTTP/1.0, a connection for each request: what a load client must be able to live with."""

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                status, reply = 200, answer(self.headers["X-Amz-Target"].partition(".")[2], request)
            except PermissionError as error:
                status, reply = 403, {"__type": "com.amazonaws.sqs#AccessDenied", "message": str(error)}
            body = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: object) -> None:
            pass

    return Handler
