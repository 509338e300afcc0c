"""`make test`: every test, in parts that run side by side, because much of the time a test waits for something.

Decides what is a part, how many run at once, and what is told of them: the output of a part when it has ended, and last
of all which tests failed. Refuses to know what is tested: a part is a run of pytest, with servers, folders and, where
it needs one, a Spark of its own.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
Places = Sequence[str]
PARTS: Mapping[str, Places] = {
    "pipeline": ("tests/pipeline",),
    "others": ("tests",),
    "sparks": (
        "tests/pipeline/queue/test_kill.py",
        "tests/pipeline/test_bench_beside.py",
        "tests/pipeline/test_cluster.py",
        "tests/pipeline/test_lakes.py",
        "tests/pipeline/test_lifecycle_killed.py",
        "tests/pipeline/test_replay_killed.py",
    ),
    "faults": ("tests/faults",),
}
"""Name → where its tests are. What is within a place of one part and named by another belongs to the other: so every
test is in one part, and a new one too. The order lets those with Spark, which computes, meet those without, which wait.
`sparks` has the tests that start Spark as processes, again and again."""
LOOK_SECONDS = 0.1
TELL_SECONDS = 60
END_SECONDS = 60
INTERRUPTED = 130


def words(parts: Mapping[str, Places], name: str) -> list[str]:
    """What pytest is told to run a part."""
    others = [place for other, places in parts.items() if other != name for place in places]
    within = [place for place in others if any(Path(mine) in Path(place).parents for mine in parts[name])]
    return [*parts[name], *(f"--ignore={place}" for place in within)]


def progress(said: str) -> str:
    """How far pytest is: it says the share at the end of a line of tests, which may take minutes."""
    lines = re.findall(r"^([.FEsxX]+)(?: *\[ *(\d+%)\])?$", said, re.MULTILINE)
    share = next((share for _, share in reversed(lines) if share), "0%")
    return f"{sum(len(tests) for tests, _ in lines):,} tests, {share}"


@dataclass
class Run:
    """A part under way: in a process group of its own, so that it hears of ctrl-C once, and from us."""

    name: str
    words: Sequence[str]
    log: Path
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "pytest", *self.words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
            )

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def stop(self) -> None:
        """As by ctrl-C, so that its tests end what they have started."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def end(self) -> None:
        try:
            self.process.wait(END_SECONDS)
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()

    def tell(self) -> None:
        print(f"\n===== {self.name}, after {_minutes(self.began)}\n{self.said()}", flush=True)

    def summary(self) -> Iterator[str]:
        """Which tests failed, as pytest names them, and its last line; or that it did not come so far."""
        lines = self.said().splitlines()
        yield from (line for line in lines if line.startswith(("FAILED ", "ERROR ")))
        ends = [line for line in lines if re.search(r"\d+ \w+.* in [\d.]+s", line)]
        yield f"{self.name}: {ends[-1].strip(' =') if ends else 'no result'} (status {self.process.returncode})"


@dataclass
class Suite:
    parts: Mapping[str, Places]
    at_once: int
    folder: Path
    began: float = field(default_factory=time.monotonic)
    running: list[Run] = field(default_factory=list)
    ended: list[Run] = field(default_factory=list)

    def run(self) -> None:
        waiting, told = list(self.parts), self.began
        while waiting or self.running:
            while waiting and len(self.running) < self.at_once:
                name = waiting.pop(0)
                self.running.append(Run(name, words(self.parts, name), self.folder / name))
            time.sleep(LOOK_SECONDS)
            for one in [one for one in self.running if one.process.poll() is not None]:
                self._ended(one)
            if time.monotonic() - told > TELL_SECONDS:
                told = time.monotonic()
                far = [f"{one.name} {progress(one.said())}" for one in self.running]
                print(f"{_minutes(self.began)}: {'; '.join(far)}", flush=True)

    def _ended(self, one: Run) -> None:
        self.running.remove(one)
        self.ended.append(one)
        one.tell()

    def stop(self) -> None:
        for one in self.running:
            one.stop()
        for one in [*self.running]:
            one.end()
            self._ended(one)

    def status(self) -> int:
        """Of all of it. What failed is told again at the end, where it is seen."""
        print(f"\n===== {len(self.ended)} of {len(self.parts)} parts ended in {_minutes(self.began)}")
        for line in (line for one in self.ended for line in one.summary()):
            print(line)
        return int(len(self.ended) < len(self.parts) or any(one.process.returncode for one in self.ended))


def _minutes(began: float) -> str:
    return f"{(time.monotonic() - began) / 60:.1f} min"


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def cores() -> int:
    return len(os.sched_getaffinity(0))


def main(parts: Mapping[str, Places], at_once: int) -> int:
    with tempfile.TemporaryDirectory(prefix="penstock-parts-") as folder, terminated_as_interrupted():
        suite = Suite(parts, at_once, Path(folder))
        try:
            suite.run()
        except KeyboardInterrupt:
            suite.stop()
            return suite.status() and INTERRUPTED
        return suite.status()


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main(PARTS, max(2, cores())))
