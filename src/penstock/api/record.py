"""What is written down of every request: numbers always, a line in the log when something was refused (or for all, at
debug level). Never bodies, secrets or handles."""

import logging

import structlog

from penstock.api.call import Call
from penstock.api.metrics import Metrics

log = structlog.get_logger("penstock")


class Recorder:
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._verbose = logging.getLogger("penstock").isEnabledFor(logging.DEBUG)

    def __call__(self, call: Call, seconds: float) -> None:
        self._metrics.request(call.action, call.result, seconds)
        if call.result == "ok" and not self._verbose:
            return
        write = log.debug if call.result == "ok" else log.error if call.status >= 500 else log.info
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
