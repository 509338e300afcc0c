"""How a job is getting on: a bar on a terminal, a line of JSON for each batch in a log."""

import json
import sys
import time
from dataclasses import asdict, dataclass
from typing import TextIO

WIDTH = 24


@dataclass(frozen=True)
class Step:
    """One batch that has been committed. Times in seconds, everything else in events or rows."""

    batch: int
    rows: int
    seconds: float
    done: int
    behind: int
    """Events that are published and not yet read."""
    corrupt: int = 0
    late: int = 0


class Progress:
    def __init__(self, job: str, to: TextIO | None = None) -> None:
        self._job, self._to = job, to or sys.stderr
        self._bar = self._to.isatty()
        self._rows = 0
        self._began = time.monotonic()

    def show(self, step: Step) -> None:
        self._rows += step.rows
        if self._bar:
            self._to.write(f"\r\033[K{self.line(step)}")
        else:
            rate = round(step.rows / max(step.seconds, 0.001))
            self._to.write(json.dumps({"event": "batch", "job": self._job, **asdict(step), "per_second": rate}) + "\n")
        self._to.flush()

    def line(self, step: Step) -> str:
        total = step.done + step.behind
        share = step.done / total if total else 1.0
        bar = "█" * round(WIDTH * share)
        rate = step.rows / max(step.seconds, 0.001)
        corrupt = f" · {step.corrupt:,} unreadable" if step.corrupt else ""
        late = f" · {step.late:,} late" if step.late else ""
        bar = f"{self._job} {bar:░<{WIDTH}} {share:4.0%}"
        return f"{bar} · {step.done:,} events · {rate:,.0f}/s · {step.behind:,} behind{corrupt}{late}"

    def end(self, words: str) -> None:
        said = json.dumps({"event": "end", "job": self._job, "said": words})
        self._to.write(f"\n{words}\n" if self._bar else f"{said}\n")
        self._to.flush()

    @property
    def rows(self) -> int:
        return self._rows

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began
