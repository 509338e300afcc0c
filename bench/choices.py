"""What `bench/storage.py` measures: for each choice of the embedded store a generator of rows, kept beside other.

It knows how both are measured in turn; it refuses to know which of them should win.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import msgspec
import uvloop
from layouts import Apart, Flips, Layout, VisibleAt, cycle
from turns import Figures, Row, Size, in_turn

TOGETHER = 64
COMMITS = f"3 commits, 1/{TOGETHER}"
NOW = 1_763_000_000_000
BODY = b"x" * 256
ATTRIBUTES = {f"attribute-{number}": ("String", f"value {number}") for number in range(3)}
PREPARED_US = 30
"""Processor time before a change can be made: about what parsing, the signature and decoding take of a request."""


# Where the commit runs


def commits(size: Size, folder: Path) -> Iterator[Row]:
    turns = prepared_in(PREPARED_US)
    with ThreadPoolExecutor(1) as thread:
        for together in (1, 16, 64):
            for case, overlapping in (("all wait for it", False), ("others come meanwhile", True)):
                batches = max(size.batches * 4 // together, size.batches // 2, 2)
                clients = Clients(Flips(folder / f"commit-{together}-{overlapping}", "FULL"), together, batches, turns)
                pair = in_turn(
                    size.disk_rounds,
                    partial(looped, on_the_loop, clients),
                    partial(looped, on_a_thread, clients, thread, overlapping),
                    median,
                )
                yield Row("commit", f"{together} together, {case}", "a change", *pair["a change"])
                clients.file.connection.close()


class Clients(NamedTuple):
    """What so many clients ask for together, so many times: `turns` of work before each change."""

    file: Layout
    together: int
    batches: int
    turns: int

    def prepare(self) -> None:
        for _ in range(self.together):
            work(self.turns)

    def change(self) -> None:
        self.file.begin()
        for _ in range(self.together):
            self.file.send(NOW, BODY)


def prepared_in(microseconds: int) -> int:
    """How often to do a small piece of work that holds the interpreter, for so many microseconds."""
    started = time.perf_counter()
    work(2000)
    return max(1, int(microseconds * 2000 / ((time.perf_counter() - started) * 1e6)))


def work(turns: int) -> None:
    for number in range(turns):
        sha256(b"%d" % number).hexdigest()


def looped(commit: Callable[..., Coroutine[Any, Any, None]], clients: Clients, *more: Any) -> Figures:
    async def timed() -> float:
        started = time.perf_counter()
        await commit(clients, *more)
        return time.perf_counter() - started

    return {"a change": uvloop.run(timed()) * 1e6 / clients.batches / clients.together}


async def on_the_loop(clients: Clients) -> None:
    for _ in range(clients.batches):
        clients.prepare()
        clients.change()
        clients.file.commit()
        await asyncio.sleep(0)


async def on_a_thread(clients: Clients, thread: ThreadPoolExecutor, overlapping: bool) -> None:
    """While the thread commits, the loop prepares what came meanwhile; the next change waits for the commit."""
    loop = asyncio.get_running_loop()
    clients.prepare()
    for number in range(clients.batches):
        clients.change()
        committed = loop.run_in_executor(thread, clients.file.commit)
        if not overlapping:
            await committed
        if number < clients.batches - 1:
            clients.prepare()
        await committed


# How many files


def files(size: Size, folder: Path) -> Iterator[Row]:
    for together in (16, 64, 256):
        one = Flips(folder / f"one-{together}", "FULL")
        two = [Flips(folder / f"shard-{together}-{number}", "FULL") for number in range(2)]
        batches = max(2, size.batches * 16 // together)
        kept, other = partial(written, [one], together, batches), partial(written, two, together // 2, batches)
        pair = in_turn(size.disk_rounds, kept, other, median)
        yield Row("files", f"{together} clients", "a cycle", *pair["a cycle"])
        for file in (one, *two):
            file.connection.close()


def written(files: Sequence[Layout], together: int, batches: int) -> Figures:
    """A writer for each file; the clients are divided among them."""

    def write(file: Layout) -> None:
        for _ in range(batches):
            cycle(file, NOW, [BODY] * together)

    writers = [threading.Thread(target=write, args=(file,)) for file in files]
    started = time.perf_counter()
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    return {"a cycle": (time.perf_counter() - started) * 1e6 / (together * len(files) * batches)}


# States or times


def layouts(size: Size, folder: Path) -> Iterator[Row]:
    cases = (("empty", 0, 0), (f"{size.backlog:,} stored", size.backlog, 0),
             (f"{size.backlog:,} stored, half hidden", size.backlog, size.backlog // 2))  # fmt: skip
    for case, stored, hidden in cases:
        pair = [kind(folder / f"{kind.__name__}-{stored}-{hidden}") for kind in (Flips, VisibleAt)]
        for layout in pair:
            layout.fill(stored, hidden, NOW, BODY)
        times = iter(range(NOW + 1, NOW + 10**6))
        kept, other = (partial(stepped, layout, BODY, size.batches, times) for layout in pair)
        for step, figures in in_turn(size.rounds, kept, other).items():
            if step != "log":
                yield Row("layout", case, step, *figures)
        kept, other = (partial(returned, layout, times) for layout in pair)
        for step, figures in in_turn(size.rounds, kept, other).items():
            yield Row("layout", case, step, *figures)
        for layout in pair:
            layout.connection.close()


def stepped(layout: Layout, content: bytes, batches: int, times: Iterator[int]) -> Figures:
    """Each step for many in a row, and a commit behind it; without the disk's share."""
    layout.empty_log()
    taken, clock = dict.fromkeys(("send", "receive", "delete", COMMITS), 0.0), time.perf_counter
    for _ in range(batches):
        now, numbers = next(times), list[int]()
        for step in ("send", "receive", "delete"):
            layout.begin()
            started = clock()
            if step == "send":
                for _ in range(TOGETHER):
                    layout.send(now, content)
            elif step == "receive":
                numbers = [layout.receive(now) for _ in range(TOGETHER)]
            else:
                for number in numbers:
                    layout.delete(number)
            changed = clock()
            layout.commit()
            taken[step] += changed - started
            taken[COMMITS] += clock() - changed
    each = {step: seconds * 1e6 / TOGETHER / batches for step, seconds in taken.items()}
    return each | {"together": sum(each.values()), "log": layout.log_bytes() / TOGETHER / batches}


def returned(layout: Layout, times: Iterator[int]) -> Figures:
    """Messages whose window is over, and counting."""
    now, then = next(times), next(times)
    layout.begin()
    for _ in range(TOGETHER):
        layout.send(now, BODY)
    numbers = [layout.receive(now, 1) for _ in range(TOGETHER)]
    started = time.perf_counter()
    layout.come_back(then)
    back = time.perf_counter() - started if isinstance(layout, Flips) else 0.0
    started = time.perf_counter()
    layout.counts(then)
    counted = time.perf_counter() - started
    for number in numbers:
        layout.delete(number)
    layout.commit()
    return {"one comes back": back * 1e6 / TOGETHER, "exact counts": counted * 1e6}


# Where a content lies


def contents(size: Size, folder: Path) -> Iterator[Row]:
    for length in (256, 1_000, 2_000, 8_000, 65_536):
        pair = [kind(folder / f"{kind.__name__}-{length}") for kind in (Flips, Apart)]
        times, batches = iter(range(NOW, NOW + 10**6)), max(1, size.batches // (1 + length // 4096))
        for layout in pair:  # else every batch begins and ends with an empty tree
            layout.fill(TOGETHER, 0, NOW, bytes(length))
        kept, other = (partial(stepped, layout, bytes(length), batches, times) for layout in pair)
        for step, figures in in_turn(size.rounds, kept, other).items():
            if step == "log":
                yield Row("content", f"{length:,} bytes", "log written", *figures, "bytes")
            else:
                yield Row("content", f"{length:,} bytes", step, *figures)
        for layout in pair:
            layout.connection.close()


# How a content is written down


def encodings(size: Size, folder: Path) -> Iterator[Row]:
    quoted = msgspec.json.encode({f"field {number}": f"value {number}" for number in range(10)}).decode()
    cases: tuple[tuple[str, str, dict[str, tuple[str, str]]], ...] = (
        ("256 bytes", BODY.decode(), {}),
        ("256 bytes, 3 attributes", BODY.decode(), ATTRIBUTES),
        (f"{len(quoted)} bytes of JSON", quoted, {}),
    )
    for case, body, attributes in cases:
        content: tuple[object, ...] = (body, "000000000000", NOW, attributes, None, None, None, None, None)
        packs = (msgspec.msgpack, msgspec.json)
        kept, other = (partial(encoded, module, content, size.batches * 500) for module in packs)
        for step, figures in in_turn(size.rounds, kept, other).items():
            yield Row("encoding", case, step, *figures)
        packed, written_as_json = (len(module.encode(content)) for module in packs)
        yield Row("encoding", case, "size", packed, written_as_json, "bytes")


def encoded(module: Any, content: tuple[object, ...], times: int) -> Figures:
    encode, decode = module.Encoder().encode, module.Decoder().decode
    raw, clock = encode(content), time.perf_counter
    marks = [clock()]
    for _ in range(times):
        encode(content)
    marks.append(clock())
    for _ in range(times):
        decode(raw)
    marks.append(clock())
    return {"encode": (marks[1] - marks[0]) * 1e6 / times, "decode": (marks[2] - marks[1]) * 1e6 / times}
