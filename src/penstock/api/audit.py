"""Which calls are written into the audit log, and what is said of them: never bodies, documents, secrets or handles.

Every refused call is. Of the others, `KINDS` says by service what those that read and those that change are, and
`EXCEPTIONS` where an action is something else; so an action that is new is written down unless someone says otherwise.

An operation that is written down is wrapped once, when the gateway is made; the others do not pay for it.
"""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

from penstock.api.call import Call, Operation
from penstock.aws.signature import read
from penstock.core.audit import LONGEST_TEXT, Entry, Kind
from penstock.core.errors import ServiceError, Unavailable

READING = ("Get", "List", "Simulate", "Peek", "Read", "Lookup", "Describe", "Decode")
KINDS: dict[str, tuple[Kind | None, Kind | None]] = {
    "sqs": (None, None),
    "sts": (None, Kind.CHANGE),
    "iam": (None, Kind.CHANGE),
    "cloudwatch": (None, Kind.CHANGE),
    "penstock": (Kind.READ, Kind.ADMIN),
}
"""Service → what its actions are that only read, and what the others are."""
OF_NO_ONE = (None, Kind.CHANGE)
EXCEPTIONS: dict[tuple[str, str], Kind | None] = {
    ("sqs", "AddPermission"): Kind.CHANGE,
    ("sqs", "RemovePermission"): Kind.CHANGE,
    ("sqs", "CreateQueue"): Kind.CHANGE,
    ("sqs", "SetQueueAttributes"): Kind.CHANGE,
    ("sts", "GetSessionToken"): Kind.CHANGE,
    ("sts", "GetFederationToken"): Kind.CHANGE,
    ("penstock", "GetQueueMetrics"): None,
    ("penstock", "CommitJournalReader"): Kind.READ,
}
ONLY_WITH_A_POLICY = {("sqs", "CreateQueue"), ("sqs", "SetQueueAttributes")}
"""Are changes of who may do what if they set the attribute Policy."""
DENIALS = {
    "AccessDenied",
    "ExpiredToken",
    "IncompleteSignature",
    "InvalidClientTokenId",
    "InvalidSecurity",
    "KmsAccessDenied",
    "MissingAuthenticationToken",
    "RequestExpired",
    "SignatureDoesNotMatch",
}
THROTTLED = "RequestThrottled"
"""Of someone who is not known: has failed too often to be heard."""
WORD = re.compile(rb"([A-Za-z]{1,64})")
PARAMETER = re.compile(rb"(?:^|[?&])Action=([A-Za-z]{1,64})(?:&|$)")
PATH = re.compile(rb"/service/\w{1,64}/operation/([A-Za-z]{1,64})")
LOOKED_AT = 1024
TOLD = (
    "AccountId",
    "Account",
    "UserName",
    "NewUserName",
    "GroupName",
    "NewGroupName",
    "RoleName",
    "RoleArn",
    "RoleSessionName",
    "Name",
    "PolicyName",
    "PolicyArn",
    "VersionId",
    "PermissionsBoundary",
    "AccessKeyId",
    "Status",
    "Label",
    "QueueArn",
    "ReaderName",
    "Node",
    "TaskId",
    "Force",
    "DryRun",
)
"""Members of requests and replies that name what was meant or made, and what would have been."""
INNER = ("Account", "AccessKey", "RootKey", "Credentials")
"""Parts of replies in which such members are too."""


def kind_of(service: str, action: str) -> Kind | None:
    reading, changing = KINDS.get(service, OF_NO_ONE)
    reads = action.removeprefix("Admin").startswith(READING)
    return EXCEPTIONS.get((service, action), reading if reads else changing)


def _kind_of_call(call: Call) -> Kind | None:
    if call.service is None:
        return None
    name = call.service.name, call.action
    if name in ONLY_WITH_A_POLICY and "Policy" not in (getattr(call.request, "Attributes", None) or {}):
        return None
    return kind_of(*name)


def audited(service: str, action: str, run: Operation) -> Operation:
    """The operation, such that its reply waits for the log if it changes something."""
    if kind_of(service, action) is None:
        return run

    async def run_and_write(call: Call, request: Any) -> Any:
        log, kind = call.site.audit, _kind_of_call(call)
        if log is None or kind is None:
            return await run(call, request)
        if kind is not Kind.READ and (trouble := log.trouble()):
            raise Unavailable(trouble)
        try:
            result = await run(call, request)
        except asyncio.CancelledError:  # its client left, and what it began may have been done
            audit(call, outcome="unknown")
            raise
        audit(call, result)
        if kind is not Kind.READ:
            await log.lasting()
        return result

    return run_and_write


def audit(call: Call, reply: Any = None, outcome: str = "ok") -> None:
    """Write down how a call went, if it is one that is written down."""
    log, kind = call.site.audit, _kind_of_call(call)
    if call.result != "ok":
        outcome = _outcome(call)
        kind = Kind.DENIED if outcome == "denied" else kind
    if log is None or kind is None:
        return
    entry = Entry(
        seq=0,
        ts_ms=call.now(),
        kind=kind,
        account=call.principal.account,
        principal=call.principal.arn,
        peer=call.site.addresses.peer_of(call.http),
        region=call.region,
        service=call.service.name if call.service else "",
        action=call.action if call.service else "",
        resource=_resource(call, reply) if kind is Kind.READ else "",
        result=outcome,
        code="" if call.result == "ok" else call.result,
        request_id=call.id,
    )
    if log.admits(entry):  # of a flood, most are not: what costs more is found out for the others
        entry.resource = entry.resource or _resource(call, reply)
        entry.access_key = _access_key(call)
        entry.action = entry.action or _claimed_action(call)
        log.write(entry)


def _outcome(call: Call) -> str:
    if call.result in DENIALS or (call.result == THROTTLED and not call.principal.arn):
        return "denied"
    return "unknown" if call.result in ("InternalFailure", "ServiceUnavailable") else "failed"


def _resource(call: Call, reply: Any) -> str:
    named = [call.resource.arn] if call.resource else []
    return ",".join(dict.fromkeys([*named, *_named(call.request), *_named(reply)]))[:LONGEST_TEXT]


def _named(shape: Any) -> Iterator[str]:
    """What a request says it is about; of a reply, what was made and the key it gives out."""
    for part in (shape, *(getattr(shape, inner, None) for inner in INNER)):
        for member in TOLD if part is not None else ():
            value = getattr(part, member, None)
            if isinstance(value, str) and value:
                yield f"{member}={value}"
            elif value is True:
                yield f"{member}=true"


def _claimed_action(call: Call) -> str:
    """What one who was not let in says it wanted: in the header of JSON, in CBOR's path, or as Query's parameter."""
    http = call.http
    target = http.headers.get(b"x-amz-target", b"").rpartition(b".")[2]
    found = WORD.fullmatch(target) or PATH.fullmatch(http.target)
    found = found or PARAMETER.search(http.target) or PARAMETER.search(http.body[:LOOKED_AT])
    return found[1].decode() if found else ""


def _access_key(call: Call) -> str:
    """Only one that is known here: someone may have put a secret in its place."""
    try:
        signature = read(call.http)
    except ServiceError:
        return ""
    claimed, identities = signature.access_key if signature else "", call.site.identities
    known = claimed in identities.directory.keys or identities.get(claimed) is not None
    return claimed if known or call.principal.session is not None else ""
