"""Tells once a minute how many refusals were only counted, in the journal and in the log."""

from penstock.api.call import Site
from penstock.api.journal import tell_denied
from penstock.api.record import Recorder

EVERY_MS = 60_000


class RefusalTeller:
    name = "refusals"

    def __init__(self, site: Site, recorder: Recorder) -> None:
        self._site, self._recorder = site, recorder

    async def run_once(self, now: int) -> int | None:
        self.tell(now)
        return now + EVERY_MS

    def tell(self, now: int) -> None:
        tell_denied(self._site, now)
        self._recorder.tell()
