"""Where `penstock journal` looks: the files in a data directory, or a server that is asked for them."""

import argparse
import time
from pathlib import Path
from typing import Any, Protocol

from penstock.cli.parser import CommandError
from penstock.config import Settings
from penstock.core.journal import Chunk
from penstock.core.store import StoreError

AT_ONCE = 1_048_576
PAUSE_SECONDS = 0.2
WAIT_SECONDS = 20


class Source(Protocol):
    def newest(self, node: str | None) -> tuple[str, int]:
        """The node being written, or the one named, and its last number."""

    def read(self, node: str, seq: int, queue: str | None, wait: bool) -> Chunk:
        """Lines from a number on; with `wait`, after a pause if there are none."""

    def segments(self) -> list[dict[str, Any]]: ...

    def readers(self) -> list[dict[str, Any]]: ...


class Files:
    def __init__(self, directory: Path) -> None:
        from penstock.journal.reader import Reader
        from penstock.journal.readers import Readers
        from penstock.journal.segments import Segments

        if not directory.is_dir():
            raise CommandError(
                f"there is no journal at {directory}; name the server's directory with --data, or ask the server with "
                "--endpoint-url"
            )
        self._files, self._readers = Segments(directory), Readers(directory)
        self._reader = Reader(self._files)

    def newest(self, node: str | None) -> tuple[str, int]:
        nodes = {name: self._files.all(name) for name in self._files.nodes()}
        if node is not None and node not in nodes:
            raise CommandError(f"there is no node {node} in the journal; there are: {', '.join(nodes) or 'none'}")
        found = [(max(s.modified for s in kept), name) for name, kept in nodes.items() if kept]
        name = node or max(found, default=(0, ""))[1]
        if not nodes.get(name):
            raise CommandError("the journal is empty")
        segment = nodes[name][-1]
        if not segment.open:
            return name, segment.last
        with segment.path.open("rb") as file:
            return name, segment.first - 1 + sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))

    def read(self, node: str, seq: int, queue: str | None, wait: bool) -> Chunk:
        chunk = self._reader.read(node, seq, AT_ONCE, queue)
        if wait and chunk.next == seq:
            time.sleep(PAUSE_SECONDS)
        return chunk

    def segments(self) -> list[dict[str, Any]]:
        return [
            _segment(s.node, s.first, None if s.open else s.last, s.size, "/".join(s.path.parts[-3:]))
            for node in self._files.nodes()
            for s in self._files.all(node)
        ]

    def readers(self) -> list[dict[str, Any]]:
        try:
            known = self._readers.all().values()
        except StoreError as error:
            raise CommandError(str(error)) from None
        if not known:
            return []
        node, last = self.newest(None)
        return [_reader(s.name, s.registered, s.committed, last - s.committed.get(node, 0)) for s in known]


class Remote:
    def __init__(self, arguments: argparse.Namespace) -> None:
        from penstock.cli.client import calling, own_client

        self._client, self._calling = own_client(arguments), calling

    def _call(self, operation: str, **request: Any) -> dict[str, Any]:
        reply: dict[str, Any] = self._calling(lambda: getattr(self._client, operation)(**request))
        return reply

    def newest(self, node: str | None) -> tuple[str, int]:
        reply = self._call("list_journal_segments")
        if node is None or node == reply["Node"]:
            return reply["Node"], reply["LastSeq"]
        mine = [segment for segment in reply.get("Segments", []) if segment["Node"] == node]
        return node, max((segment.get("LastSeq", segment["FirstSeq"]) for segment in mine), default=0)

    def read(self, node: str, seq: int, queue: str | None, wait: bool) -> Chunk:
        only = {"Queue": queue} if queue else {}
        reply = self._call(
            "read_journal",
            Node=node,
            FromSeq=seq,
            WaitTimeSeconds=WAIT_SECONDS if wait else 0,
            MaxBytes=AT_ONCE,
            **only,
        )
        return Chunk(reply["Lines"], reply["FirstSeq"], reply["NextSeq"], reply["More"])

    def segments(self) -> list[dict[str, Any]]:
        found = self._call("list_journal_segments").get("Segments", [])
        return [_segment(s["Node"], s["FirstSeq"], s.get("LastSeq"), s["Bytes"], s["Name"]) for s in found]

    def readers(self) -> list[dict[str, Any]]:
        found = self._call("list_journal_readers").get("Readers", [])
        return [_reader(r["ReaderName"], r["RegisteredTimestamp"], r.get("Committed", {}), r["Lag"]) for r in found]


def _segment(node: str, first: int, last: int | None, size: int, name: str) -> dict[str, Any]:
    return {"node": node, "first": first, "last": last, "bytes": size, "name": name}


def _reader(name: str, registered: int, committed: dict[str, int], lag: int) -> dict[str, Any]:
    return {"reader": name, "lag": lag, "registered": registered, "committed": committed}


def source_of(arguments: argparse.Namespace, settings: Settings) -> Source:
    if arguments.endpoint_url:
        return Remote(arguments)
    return Files(settings.journal_directory)
