"""What is written down of every request: numbers always, a line in the log when something was refused (or for all, at
debug level). Never bodies, secrets or handles."""

import logging

import structlog

from penstock.api.gateway import Outcome
from penstock.api.metrics import Metrics

log = structlog.get_logger("penstock")


class Recorder:
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._verbose = logging.getLogger("penstock").isEnabledFor(logging.DEBUG)

    def __call__(self, outcome: Outcome) -> None:
        self._metrics.request(outcome.action, outcome.result, outcome.seconds)
        if outcome.result == "ok" and not self._verbose:
            return
        write = log.debug if outcome.result == "ok" else log.error if outcome.status >= 500 else log.info
        write(
            "request",
            request_id=outcome.request_id,
            account=outcome.account,
            service=outcome.service,
            action=outcome.action,
            queue=outcome.queue,
            result=outcome.result,
            status=outcome.status,
            milliseconds=round(outcome.seconds * 1000, 3),
        )
