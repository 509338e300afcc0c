"""The journal over HTTP, for readers without its disk: a few signed calls of the server's own operations.

Credentials that are not given come from the AWS provider chain of the process that signs, driver or executor, so that
those which expire are renewed where they are used.
"""

import base64
import datetime as dt
import http.client
import json
import os
import ssl
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from penstock.pipeline.sources.journal.lines import Block
from penstock.pipeline.sources.journal.plan import Gap, Piece, Segment
from penstock.pipeline.told import Told

TRIES = 5
FIRST_PAUSE_SECONDS = 0.2
TIMEOUT_SECONDS = 60
NO_CREDENTIALS = (
    "there are no AWS credentials to sign with: give the options accessKey and secretKey, or set AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY, or a profile, for the driver and for executors"
)
PASSING = {429, 500, 502, 503, 504}


Keys = tuple[str | None, str | None, str | None]
"""Access key, secret key and session token."""
NO_KEYS: Keys = (None, None, None)


class Refused(Told):
    """The server said no, and would again."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Server:
    """Where the server is. What is open, and who signs, is each process's own and does not travel to executors."""

    def __init__(self, endpoint: str, region: str | None, keys: Keys = NO_KEYS) -> None:
        self.endpoint, self.region, self._keys = endpoint, region, keys
        self._connection: Any = None
        self._signer: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_connection": None, "_signer": None}

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        body = json.dumps(request).encode()
        for attempt in range(TRIES):
            if attempt:
                time.sleep(FIRST_PAUSE_SECONDS * 2 ** (attempt - 1))
            try:
                status, reply = self._sent(operation, body)
            except (OSError, http.client.HTTPException) as reason:
                self.close()
                told = str(reason) or type(reason).__name__
                continue
            if status == 200:
                return json.loads(reply)
            code, told = _error(reply)
            if status not in PASSING:
                raise Refused(code, f"{operation} at {self.endpoint} was refused: {code}: {told}")
        raise ConnectionError(f"{operation} at {self.endpoint} failed {TRIES} times: {told}")

    def _sent(self, operation: str, body: bytes) -> tuple[int, bytes]:
        address = urlsplit(self.endpoint)
        if self._connection is None:
            self._connection = _connection(str(address.hostname), address.port, address.scheme)
        self._connection.request("POST", f"{address.path}/", body, self._signed(operation, body))
        reply = self._connection.getresponse()
        return reply.status, reply.read()

    def _signed(self, operation: str, body: bytes) -> dict[str, str]:
        from botocore.awsrequest import AWSRequest  # not at the top: most programs read a folder and sign nothing

        self._signer = self._signer or self._new_signer()
        headers = {"X-Amz-Target": f"Penstock.{operation}", "Content-Type": "application/x-amz-json-1.0"}
        request = AWSRequest("POST", f"{self.endpoint}/", headers, body)
        self._signer.add_auth(request)
        return dict(request.headers.items())

    def _new_signer(self) -> Any:
        from botocore.auth import SigV4Auth
        from botocore.credentials import Credentials
        from botocore.session import get_session

        session = get_session()
        credentials = Credentials(*self._keys) if self._keys[0] else session.get_credentials()
        if credentials is None:
            raise Refused("NoCredentials", NO_CREDENTIALS)
        return SigV4Auth(credentials, "sqs", self.region or session.get_config_variable("region") or "us-east-1")

    def segments(self) -> list[Segment]:
        """With the open end of the node that is written. That of another node is soon published, and read then."""
        reply = self.call("ListJournalSegments")
        found = reply.get("Segments") or []
        segments = []
        for segment, after in zip(found, [*found[1:], None], strict=True):
            last = segment.get("LastSeq")
            if last is None and after and after["Node"] == segment["Node"]:
                last = after["FirstSeq"] - 1
            elif last is None and segment["Node"] == reply["Node"]:
                last = reply["LastSeq"]
            if last is not None and last >= segment["FirstSeq"]:
                date = dt.date.fromisoformat(segment["Date"])
                segments.append(Segment(segment["Node"], segment["FirstSeq"], last, date, segment["Name"]))
        return segments

    def read(self, piece: Piece) -> Iterator[Block | Gap]:
        node, seq = piece.segment.node, piece.start
        while seq <= piece.end:
            reply = self.call("ReadJournal", Node=node, FromSeq=seq)
            first, following = reply["FirstSeq"], reply["NextSeq"]
            if first > seq or following <= seq:
                yield self._gap(piece, seq, min(first - 1, piece.end) if first > seq else piece.end)
            if following <= seq:
                return
            lines = _up_to(piece.end, base64.b64decode(reply.get("Lines") or ""), first, following)
            if lines:
                yield Block(lines, f"{piece.segment.name} from seq {first}", None, piece.segment.date)
            told, expected = lines.count(b"\n"), min(following - 1, piece.end) - first + 1
            if told < expected:
                yield self._gap(piece, first + told, first + expected - 1)
            seq = following

    def _gap(self, piece: Piece, start: int, end: int) -> Gap:
        return Gap(piece.segment.node, start, end, "the server no longer has them", piece.segment.name)

    def register(self, reader: str) -> None:
        self.call("RegisterJournalReader", ReaderName=reader)

    def commit(self, reader: str, node: str, seq: int) -> None:
        try:
            self.call("CommitJournalReader", ReaderName=reader, Node=node, Seq=seq)
        except Refused as refusal:
            # A node whose last segment is deleted has nothing to keep for anyone. A reader can be unknown too.
            if f"no node {node}" not in str(refusal):
                raise


def _connection(host: str, port: int | None, scheme: str) -> http.client.HTTPConnection:
    if scheme == "http":
        return http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)
    trusted = ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE"))
    return http.client.HTTPSConnection(host, port, timeout=TIMEOUT_SECONDS, context=trusted)


def _up_to(end: int, lines: bytes, first: int, following: int) -> bytes:
    """Of lines that may go on after the last one wanted, those that are."""
    if following <= end + 1:
        return lines
    separate = lines.splitlines(keepends=True)
    if len(separate) == following - first:
        return b"".join(separate[: max(0, end - first + 1)])
    return b"".join(line for line in separate if _seq(line) <= end)  # some are missing: counting would go wrong


def _seq(line: bytes) -> int:
    try:
        return int(json.loads(line)["seq"])
    except (ValueError, KeyError, TypeError):
        return 0


def _error(reply: bytes) -> tuple[str, str]:
    try:
        told = json.loads(reply)
        return str(told["__type"]).rpartition("#")[2], str(told.get("message", ""))
    except (ValueError, KeyError, TypeError):
        return "Unknown", reply[:200].decode(errors="replace")
