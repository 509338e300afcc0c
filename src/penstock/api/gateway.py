"""The request pipeline: authenticate → decode → authorise → pace → run → record. Errors are caught here, once.

Everything a request needs to be understood is in its own bytes; everything it may do is decided before its operation
runs. The gateway refuses to know what operations do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from time import perf_counter
from types import ModuleType

import structlog

from penstock.api.access import Access, Caller
from penstock.api.authorise import Authorise
from penstock.api.call import Call, Operation, Site
from penstock.api.resources import resource_of
from penstock.aws.http import HttpRequest, HttpResponse
from penstock.aws.wire import NO_ACTION, NoAction, Services, Wire, wire_of
from penstock.core.errors import QueueGone, ServiceError, Unavailable, no_such_queue
from penstock.core.identifiers import random_uuid
from penstock.core.pace import Pace

log = structlog.get_logger("penstock")


@dataclass(frozen=True)
class Addresses:
    """What queue URLs start with: the configured URL, or the host that the client named."""

    public_url: str = ""
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()

    def base_url(self, http: HttpRequest) -> str:
        if self.public_url:
            return self.public_url
        headers, scheme = http.headers, "https" if http.secure else "http"
        host = headers.get(b"host", b"localhost")
        if self.trusted_proxies and self._behind_proxy(http):
            host = headers.get(b"x-forwarded-host", host).rpartition(b",")[2].strip()
            scheme = headers.get(b"x-forwarded-proto", scheme.encode()).rpartition(b",")[2].strip().decode("latin-1")
        return f"{scheme}://{host.decode('latin-1')}"

    def _behind_proxy(self, http: HttpRequest) -> bool:
        try:
            peer = ip_address(http.peer)
        except ValueError:
            return False
        return any(peer in network for network in self.trusted_proxies)


@dataclass(slots=True)
class Outcome:
    """How a request went, for the log and the metrics."""

    request_id: str
    service: str = ""
    action: str = "Unknown"
    account: str = ""
    queue: str = ""
    result: str = "ok"
    status: int = 200
    seconds: float = 0.0


Record = Callable[[Outcome], None]


class Gateway:
    """`services` are the modules of `penstock.api` that have a SERVICE and its OPERATIONS."""

    def __init__(
        self, site: Site, access: Access, authorise: Authorise, addresses: Addresses, services: dict[str, ModuleType],
        record: Record,
    ) -> None:  # fmt: skip
        self._site, self._access, self._authorise, self._addresses = site, access, authorise, addresses
        self._services = Services({name: module.SERVICE for name, module in services.items()})
        self._operations: dict[str, dict[str, Operation]] = {
            name: module.OPERATIONS for name, module in services.items()
        }
        self._record = record
        per_account, per_queue = (
            site.limits.max_requests_per_second_per_account,
            site.limits.max_requests_per_second_per_queue,
        )
        self._account_pace, self._queue_pace, self._paced = Pace(per_account), Pace(per_queue), per_account or per_queue

    async def __call__(self, http: HttpRequest) -> HttpResponse:
        started = perf_counter()
        outcome = Outcome(request_id=random_uuid())
        wire = wire_of(http, self._services)
        try:
            response = await self._answer(http, wire, outcome)
        except NoAction:
            outcome.result = "UnknownOperation"
            headers = [(b"content-type", b"text/xml"), (b"x-amzn-requestid", outcome.request_id.encode())]
            response = HttpResponse(404, NO_ACTION, headers)
        except Exception as error:
            refusal = _refusal(error, outcome)
            outcome.result = refusal.shape
            response = wire.refuse(refusal, outcome.request_id)
        outcome.status, outcome.seconds = response.status, perf_counter() - started
        self._record(outcome)
        return response

    async def _answer(self, http: HttpRequest, wire: Wire, outcome: Outcome) -> HttpResponse:
        caller = self._access.authenticate(http, self._site.clock.wall())
        outcome.account = caller.principal.account
        service, operation = wire.operation(self._services, caller.service)
        outcome.service, outcome.action = service.name, operation.name
        self._access.check_service(caller, service.signing_name)
        run = self._operations[service.name].get(operation.name)
        if run is None:
            raise ServiceError("InvalidAction", f"The action {operation.name} is not valid for this endpoint.")
        request = wire.request(service, operation)
        call = self._call(http, caller, operation.name)
        call.resource = resource_of(request, call.region, call.principal.account)
        if call.resource:
            outcome.queue = call.resource.name
        self._authorise(call)
        self._keep_pace(call)
        result = await run(call, request)
        return wire.reply(service, operation, result, outcome.request_id)

    def _keep_pace(self, call: Call) -> None:
        if not self._paced:
            return
        now, queue = call.now(), call.resource.arn if call.resource else ""
        if self._account_pace.exceeded(call.principal.account, now) or self._queue_pace.exceeded(queue, now):
            raise ServiceError("RequestThrottled", "Request is throttled.")
        self._account_pace.count(call.principal.account, now)
        if queue:
            self._queue_pace.count(queue, now)

    def _call(self, http: HttpRequest, caller: Caller, action: str) -> Call:
        trace = http.headers.get(b"x-amzn-trace-id")
        return Call(
            site=self._site,
            principal=caller.principal,
            region=caller.region,
            action=action,
            base_url=self._addresses.base_url(http),
            trace=trace.decode("latin-1") if trace else None,
        )


def _refusal(error: Exception, outcome: Outcome) -> ServiceError:
    """What the caller is told. Only what we did not foresee is logged with its cause."""
    match error:
        case ServiceError():
            return error
        case QueueGone():
            return no_such_queue()
        case Unavailable():
            log.warning("unavailable", request_id=outcome.request_id, reason=str(error))
            return ServiceError("ServiceUnavailable", "The service cannot take the request now. Please try again.")
        case _:
            log.error("failed", request_id=outcome.request_id, action=outcome.action, exc_info=error)
            return ServiceError("InternalFailure", "The request failed because of an unknown error.")
