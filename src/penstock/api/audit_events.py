"""LookupAuditEvents: the audit log for operators who may not read the server's disk."""

from penstock.api.call import Call, Operation
from penstock.aws import penstock
from penstock.core.audit import Ask, AuditLog, Sealed
from penstock.core.errors import ServiceError, invalid_parameter, invalid_value

MOST_EVENTS = 1000
RESULTS = ("ok", "denied", "failed", "unknown")


def _log(call: Call) -> AuditLog:
    if call.site.audit is None:
        raise ServiceError("UnsupportedOperation", "The server runs without an audit log.")
    return call.site.audit


async def lookup(call: Call, request: penstock.LookupAuditEventsRequest) -> penstock.LookupAuditEventsResult:
    log, most = _log(call), MOST_EVENTS if request.MaxResults is None else request.MaxResults
    if not 1 <= most <= MOST_EVENTS:
        raise invalid_value(most, "MaxResults", f"Must be between 1 and {MOST_EVENTS}, if provided.")
    if request.Result and request.Result not in RESULTS:
        raise invalid_value(request.Result, "Result", f"Must be one of {', '.join(RESULTS)}, if provided.")
    start, end = request.StartTime or 0, call.now() + 1 if request.EndTime is None else request.EndTime
    if start < 0 or end <= start:
        raise invalid_parameter("StartTime must be before EndTime; both are epoch milliseconds.")
    ask = Ask(
        start,
        end,
        after=_after(request.NextToken),
        most=most,
        account=request.Account or "",
        action=request.Action or "",
        principal=request.Principal or "",
        result=request.Result or "",
    )
    found = await log.find(ask)
    return penstock.LookupAuditEventsResult(
        Events=[_event(one) for one in found.entries] or None, NextToken=None if found.next is None else str(found.next)
    )


def _after(token: str | None) -> int:
    if not token:
        return 0
    if not (token.isascii() and token.isdigit() and len(token) <= 18):
        raise invalid_parameter("Value for parameter NextToken is invalid.")
    return int(token)


def _event(one: Sealed) -> penstock.AuditEvent:
    entry = one.entry
    return penstock.AuditEvent(
        Seq=entry.seq,
        Timestamp=entry.ts_ms,
        Kind=entry.kind,
        Account=entry.account or None,
        Principal=entry.principal or None,
        AccessKeyId=entry.access_key or None,
        SourceAddress=entry.peer or None,
        Region=entry.region or None,
        Service=entry.service or None,
        Action=entry.action or None,
        Resource=entry.resource or None,
        Result=entry.result,
        ErrorCode=entry.code or None,
        RequestId=entry.request_id or None,
        Count=entry.count,
        Hash=one.hash,
    )


OPERATIONS: dict[str, Operation] = {"LookupAuditEvents": lookup}
