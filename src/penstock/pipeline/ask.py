"""What a person asked of a job: the options of `penstock pipeline` that jobs share, and the job's own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

JOURNAL = "data/journal"


@dataclass(frozen=True)
class Ask:
    job: str
    journal: str | None = None
    endpoint_url: str | None = None
    region: str | None = None
    reader: str | None = None
    out: str = "tables"
    format: str = "parquet"
    checkpoint: str | None = None
    once: bool = False
    every: str = "10 seconds"
    segments_at_once: int = 200
    start_ms: int | None = None
    end_ms: int | None = None
    queue: tuple[str, ...] = ()
    account: tuple[str, ...] = ()
    dry_run: bool = False
    own: Mapping[str, Any] = field(default_factory=dict)

    @property
    def checkpoint_place(self) -> str:
        return self.checkpoint or f"{self.out.rstrip('/')}/_checkpoints/{self.job}"

    @property
    def journal_place(self) -> str | None:
        """The journal's folder; None if the server is to be asked for it."""
        return self.journal or (None if self.endpoint_url else JOURNAL)
