"""What `bench/storage.py` measures: for each choice of the embedded store a generator of rows, kept beside other.

It knows how both are measured in turn; it refuses to know which of them should win.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import msgspec
import uvloop
from layouts import Apart, Flips, Layout, VisibleAt, cycle

Figures = dict[str, float]
TOGETHER = 64
COMMITS = f"3 commits, 1/{TOGETHER}"
NOW = 1_763_000_000_000
BODY = b"x" * 256
ATTRIBUTES = {f"attribute-{number}": ("String", f"value {number}") for number in range(3)}
PREPARED_US = 30
"""Processor time before a change can be made: about what parsing, the signature and decoding take of a request."""


@dataclass(frozen=True)
class Size:
    """How much is done: rounds, batches in each, messages in the backlog."""

    rounds: int = 7
    batches: int = 20
    backlog: int = 100_000


QUICK = Size(1, 2, 200)


class Row(NamedTuple):
    choice: str
    case: str
    step: str
    kept: float
    other: float
    unit: str = "µs"

    @property
    def cells(self) -> tuple[str, ...]:
        digits = 0 if self.unit == "bytes" else 2
        ratio = f"{self.other / self.kept:.2f}" if self.kept >= 0.005 and self.other >= 0.005 else "–"
        return self.case, self.step, f"{self.kept:,.{digits}f}", f"{self.other:,.{digits}f}", self.unit, ratio


class Choice(NamedTuple):
    kept: str
    other: str
    measure: Callable[[Size, Path], Iterator[Row]]


def in_turn(
    rounds: int, kept: Callable[[], Figures], other: Callable[[], Figures], over: Callable[[list[float]], float] = min
) -> dict[str, tuple[float, float]]:
    """Both, round by round, each first as often as second: what disturbs the machine disturbs both."""
    found: tuple[list[Figures], list[Figures]] = ([], [])
    for number in range(rounds + 1):
        for which in (0, 1) if number % 2 else (1, 0):
            figures = (kept, other)[which]()
            if number or rounds == 1:  # the first is for the caches
                found[which].append(figures)
    steps = found[0][0]
    first, second = ({step: over([each[step] for each in figures]) for step in steps} for figures in found)
    return {step: (first[step], second[step]) for step in steps}


# Where the commit runs


def commits(size: Size, folder: Path) -> Iterator[Row]:
    turns = prepared_in(PREPARED_US)
    with ThreadPoolExecutor(1) as thread:
        for together in (1, 16, 64):
            for case, overlapping in (("all wait for it", False), ("others come meanwhile", True)):
                batches = max(size.batches * 4 // together, size.batches // 2, 2)
                file = Flips(folder / f"commit-{together}-{overlapping}", "FULL")
                given = (file, together, batches, turns)
                pair = in_turn(
                    size.rounds,
                    lambda given=given: uvloop.run(on_the_loop(*given)),  # type: ignore[misc]
                    lambda given=given, overlapping=overlapping: uvloop.run(  # type: ignore[misc]
                        on_a_thread(*given, thread, overlapping)
                    ),
                    median,
                )
                yield Row("commit", f"{together} changes, {case}", "a change", *pair["a change"])
                file.connection.close()


def prepared_in(microseconds: int) -> int:
    """How often to do a small piece of work that holds the interpreter, for so many microseconds."""
    started = time.perf_counter()
    work(2000)
    return max(1, int(microseconds * 2000 / ((time.perf_counter() - started) * 1e6)))


def work(turns: int) -> None:
    for number in range(turns):
        sha256(b"%d" % number).hexdigest()


def change(file: Layout, together: int) -> None:
    file.begin()
    for _ in range(together):
        file.send(NOW, BODY)


async def on_the_loop(file: Layout, together: int, batches: int, turns: int) -> Figures:
    started = time.perf_counter()
    for _ in range(batches):
        for _ in range(together):
            work(turns)
        change(file, together)
        file.commit()
        await asyncio.sleep(0)
    return {"a change": (time.perf_counter() - started) * 1e6 / batches / together}


async def on_a_thread(
    file: Layout, together: int, batches: int, turns: int, thread: ThreadPoolExecutor, overlapping: bool
) -> Figures:
    """While the thread commits, the loop prepares what came meanwhile; the next change waits for the commit."""
    loop = asyncio.get_running_loop()
    started = time.perf_counter()
    for number in range(batches):
        if number == 0 or not overlapping:
            for _ in range(together):
                work(turns)
        change(file, together)
        committed = loop.run_in_executor(thread, file.commit)
        await asyncio.sleep(0)
        if overlapping and number < batches - 1:
            for _ in range(together):
                work(turns)
        await committed
    return {"a change": (time.perf_counter() - started) * 1e6 / batches / together}


# How many files


def files(size: Size, folder: Path) -> Iterator[Row]:
    for together in (16, 64, 256):
        one = Flips(folder / f"one-{together}", "FULL")
        two = [Flips(folder / f"shard-{together}-{number}", "FULL") for number in range(2)]
        batches = max(2, size.batches * 16 // together)
        kept, other = partial(written, [one], together, batches), partial(written, two, together // 2, batches)
        pair = in_turn(size.rounds, kept, other, median)
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
    taken, numbers = dict.fromkeys(("send", "receive", "delete", COMMITS), 0.0), list[int]()
    for _ in range(batches):
        now = next(times)
        for step, change in (
            ("send", lambda now=now: [layout.send(now, content) for _ in range(TOGETHER)]),
            ("receive", lambda now=now: numbers.extend([layout.receive(now) for _ in range(TOGETHER)])),
            ("delete", lambda: [layout.delete(number) for number in numbers]),
        ):
            layout.begin()
            started = time.perf_counter()
            change()
            changed = time.perf_counter()
            layout.commit()
            taken[step] += changed - started
            taken[COMMITS] += time.perf_counter() - changed
        numbers.clear()
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
    cases = (("256 bytes", BODY.decode(), {}), ("256 bytes, 3 attributes", BODY.decode(), ATTRIBUTES),
             (f"{len(quoted)} bytes of JSON", quoted, {}))  # fmt: skip
    for case, body, attributes in cases:
        content = (body, "000000000000", NOW, attributes, None, None, None, None, None)
        packs = (msgspec.msgpack, msgspec.json)
        kept, other = (partial(encoded, module, content, size.batches * 500) for module in packs)
        for step, figures in in_turn(size.rounds, kept, other).items():
            yield Row("encoding", case, step, *figures)
        yield Row("encoding", case, "size", *(len(module.encode(content)) for module in packs), "bytes")


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
