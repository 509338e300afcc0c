"""The request pipeline: authenticate → decode → authorise → pace → run → record. Errors are caught here, once.

Everything a request needs to be understood is in its own bytes; everything it may do is decided before its operation
runs. The gateway refuses to know what operations do.
"""

from collections.abc import Callable, Sequence
from time import perf_counter
from types import ModuleType

import structlog

from penstock.api.access import Access
from penstock.api.audit import audit, audited
from penstock.api.authorise import Authorise
from penstock.api.call import Call, Operation, Site
from penstock.api.holding import Holding
from penstock.api.journal import note_denied
from penstock.api.resources import resource_of
from penstock.api.rights import Right, rights_of
from penstock.aws import contract
from penstock.aws.http import HttpRequest, HttpResponse, header
from penstock.aws.wire import NO_ACTION, NoAction, Services, wire_of
from penstock.core.errors import QueueGone, ServiceError, Unavailable, no_such_queue
from penstock.core.identifiers import random_uuid
from penstock.core.identity import Kind, anonymous
from penstock.core.pace import Pace
from penstock.core.thinning import REFUSED, Thinning

log = structlog.get_logger("penstock")

Record = Callable[[Call, float], None]
"""Writes down how a call went, and how many seconds it took."""


class Gateway:
    """`services` are the modules of `penstock.api` that have a SERVICE and its OPERATIONS."""

    def __init__(
        self, site: Site, access: Access, authorise: Authorise, services: dict[str, ModuleType], record: Record
    ) -> None:
        self._site, self._access, self._authorise, self._record = site, access, authorise, record
        self._services = Services({name: module.SERVICE for name, module in services.items()})
        rights = rights_of(services)
        self._operations: dict[contract.Operation, tuple[Operation, Right]] = {
            module.SERVICE.operations[name]: (audited(service, name, operation), rights[service, name])
            for service, module in services.items()
            for name, operation in module.OPERATIONS.items()
        }
        per_account, per_queue = (
            site.limits.max_requests_per_second_per_account,
            site.limits.max_requests_per_second_per_queue,
        )
        self._holding = Holding(site.refusals_take_ms / 1000)
        self._causes = Thinning(*REFUSED)  # how many there were beside is told of the requests
        self._steps = (self._authenticate, self._decode)
        self._account_pace, self._queue_pace, self._paced = Pace(per_account), Pace(per_queue), per_account or per_queue

    def prepare(self, requests: Sequence[HttpRequest]) -> None:
        """Take requests that arrived together as far as they get before they are run, step by step."""
        site, started = self._site, perf_counter()
        arrived, moment = site.clock.wall(), site.clock.now()
        version, services, readmit = site.identities.version, self._services, self._readmit
        calls = [
            Call(site, http, random_uuid(), started, arrived, moment, version, wire_of(http, services), readmit)
            for http in requests
        ]
        for step in self._steps:
            for call in calls:
                if call.refusal is None:
                    try:
                        step(call)
                    except ServiceError as error:
                        error.__traceback__ = error.__context__ = None  # they would hold everything that is here
                        call.refusal = error
                    except Exception as error:
                        call.refusal = error
        for http, call in zip(requests, calls, strict=True):
            http.prepared = call
        site.store.expect(len(calls))

    async def answer(self, http: HttpRequest) -> HttpResponse:
        if http.prepared is None:
            self.prepare([http])
        call: Call = http.prepared
        http.prepared = None  # so that neither holds the other, and both are freed when they have been answered
        response: HttpResponse
        try:
            if call.refusal is None:
                await self._authorise(call)
                if self._paced:
                    self._keep_pace(call)
                result = await call.run(call, call.request)
                response = call.wire.reply(call.service, call.operation, result, call.id)
            else:
                response = self._refuse(call.refusal, call)
        except Exception as error:
            response = self._refuse(error, call)
        call.status = response.status
        self._record(call, perf_counter() - call.started)
        if call.result == "AccessDenied":
            await self._holding.since(call.started)  # how long a policy took to read would tell that there is one
        return response

    def _refuse(self, error: Exception, call: Call) -> HttpResponse:
        if isinstance(error, NoAction):
            call.result = "UnknownOperation"
            return HttpResponse(404, NO_ACTION, b"content-type: text/xml\r\n" + header("x-amzn-requestid", call.id))
        refusal = self._refusal(error, call)
        call.result = refusal.shape
        if refusal.shape == "AccessDenied":
            note_denied(call)
        audit(call)
        response: HttpResponse = call.wire.refuse(refusal, call.id)
        return response

    def _authenticate(self, call: Call) -> None:
        caller, known = self._access.authenticate(call.http, call.arrived), call.http.lesson
        call.principal, call.region, call.access_key = caller.principal, caller.region, caller.access_key
        if caller.principal.kind is Kind.ANONYMOUS:
            self._let_anonymous(call)
        elif known is not None and known.asked is not None:
            call.service, call.operation, call.run, call.right = known.asked
            call.action = call.operation.name
        else:
            self._find_operation(call, caller.service)
            self._access.check_service(caller, call.service.signing_name)
            if known is not None and call.wire.said_by_head:
                known.asked = call.service, call.operation, call.run, call.right

    def _find_operation(self, call: Call, signed_for: str) -> None:
        call.service, call.operation = call.wire.operation(self._services, signed_for)
        call.action = call.operation.name
        call.run, call.right = self._operations.get(call.operation) or (None, None)

    def _let_anonymous(self, call: Call) -> None:
        """Whoever does not say who they are may ask for what a queue's policy can give to anyone, and nothing else."""
        try:
            self._find_operation(call, "")
        except (ServiceError, NoAction):
            raise self._access.unsigned(call.http, call.arrived) from None
        if call.right is None or not call.right.anonymous:
            raise self._access.unsigned(call.http, call.arrived)
        call.principal = anonymous(self._site.addresses.peer_of(call.http))

    def _decode(self, call: Call) -> None:
        if call.run is None:
            raise ServiceError("InvalidAction", f"The action {call.action} is not valid for this endpoint.")
        call.request = call.wire.request(call.service, call.operation)
        call.resource = resource_of(call.request, call.region, call.principal.account)

    async def _readmit(self, call: Call) -> None:
        """For a call that has waited: its key may be gone since, or what it may do."""
        if call.version != (version := self._site.identities.version):
            self._authenticate(call)
            call.version = version
        await self._authorise(call)

    def _keep_pace(self, call: Call) -> None:
        now, queue = call.now(), call.resource.arn if call.resource else ""
        if self._account_pace.exceeded(call.principal.account, now) or self._queue_pace.exceeded(queue, now):
            raise ServiceError("RequestThrottled", "Request is throttled.")
        self._account_pace.count(call.principal.account, now)
        if queue:
            self._queue_pace.count(queue, now)

    def _refusal(self, error: Exception, call: Call) -> ServiceError:
        """What the caller is told. Only what we did not foresee is logged with its cause, and of a flood the first."""
        match error:
            case ServiceError():
                return error
            case QueueGone():
                return no_such_queue()
            case Unavailable():
                if self._causes.admits(call.crowd, call.now()):
                    log.warning("unavailable", request_id=call.id, reason=str(error))
                return ServiceError("ServiceUnavailable", "The service cannot take the request now. Please try again.")
            case _:
                if self._causes.admits(call.crowd, call.now()):
                    log.error("failed", request_id=call.id, action=call.action, exc_info=error)
                return ServiceError("InternalFailure", "The request failed because of an unknown error.")
