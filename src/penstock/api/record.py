"""What is written down of every request: numbers always, a line in the log when something was refused (or for all, at
debug level). Of a flood of refusals most are only counted, and told later. Never bodies, secrets or handles."""

import logging

import structlog

from penstock.api.call import Call
from penstock.api.metrics import Metrics
from penstock.core.thinning import REFUSED, Thinning

log = structlog.get_logger("penstock")


class Recorder:
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._verbose = logging.getLogger("penstock").isEnabledFor(logging.DEBUG)
        self._refused, self._failed = Thinning(*REFUSED), Thinning(*REFUSED)

    def record(self, call: Call, seconds: float, requests: int = 1) -> None:
        """So many that went the same way."""
        self._metrics.requests[call.action, call.result].add(seconds, requests)
        if not self._verbose and (call.result == "ok" or not self._admits(call)):
            return
        write = log.debug if call.result == "ok" else log.error if call.status >= 500 else log.info
        for _ in range(requests):
            write(
                "request",
                request_id=call.id,
                account=call.principal.account,
                service=call.service.name if call.service else "",
                action=call.action,
                queue=call.resource.name if call.resource else "",
                result=call.result,
                status=call.status,
                milliseconds=round(seconds * 1000, 3),
            )

    def _admits(self, call: Call) -> bool:
        """Failures of ours are counted apart, so that no flood of refusals hides them."""
        thinning = self._failed if call.status >= 500 else self._refused
        return thinning.admits(call.crowd, call.now())

    def tell(self) -> None:
        """A line for each account or address of whom requests were only counted."""
        for write, thinning in ((log.info, self._refused), (log.error, self._failed)):
            for crowd, count in thinning.take_held().items():
                write("requests not logged", caller=crowd or "others", count=count)
