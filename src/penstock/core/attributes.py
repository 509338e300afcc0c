"""Queue attributes: which there are, what values they take, and what they are when nobody set them.

Attributes are strings on the wire and in the store. `checked` turns what a request gives into what is stored;
`described` turns what is stored into what a request is told.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from penstock.core.actions import UNKNOWN_ACTION, is_unknown
from penstock.core.errors import ServiceError, invalid_attribute, invalid_parameter, invalid_value
from penstock.core.limits import Limits
from penstock.core.policy import PolicyError, Use, read_policy
from penstock.core.queue import EARLIER_SCOPE, Counts, Queue, QueueKey

Attributes = dict[str, str]
Check = Callable[[str, str, Limits], str]

ONE_ENCRYPTION = (
    "You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE."
)


def _whole(low: str | int, high: str | int) -> Check:
    """A whole number between two bounds, each given as a number or as the name of a limit."""

    def check(name: str, value: str, limits: Limits) -> str:
        least, most = (getattr(limits, bound) if isinstance(bound, str) else bound for bound in (low, high))
        if not (value.isascii() and value.isdigit() and len(value) < 12 and least <= int(value) <= most):
            raise invalid_attribute(name)
        return str(int(value))

    return check


def _boolean(name: str, value: str, limits: Limits) -> str:
    if value.lower() not in ("true", "false"):
        raise invalid_attribute(name)
    return value.lower()


def _one_of(*values: str) -> Check:
    def check(name: str, value: str, limits: Limits) -> str:
        if value not in values:
            raise invalid_attribute(name)
        return value

    return check


def _policy(name: str, value: str, limits: Limits) -> str:
    if not value:
        return value
    document = _json_object(value)
    if document is None:
        raise invalid_attribute(name)
    if len(value.encode()) > limits.max_policy_bytes:
        raise ServiceError("OverLimit", "Submitted policy is over max allowed size.")
    statements = document.get("Statement", [])
    statements = statements if isinstance(statements, list) else [statements]
    if not all(isinstance(statement, dict) for statement in statements):
        raise invalid_attribute(name)
    most = limits.max_policy_statements
    if len(statements) > most:
        raise ServiceError(
            "OverLimit", f"{len(statements)} statements were found in the submitted policy, max allowed is {most}"
        )
    for statement in statements:
        _check_actions(statement, limits.max_actions_per_statement)
    check_policy(value)
    return value


def _check_actions(statement: dict[str, Any], most: int) -> None:
    for element in ("Action", "NotAction"):
        actions = statement.get(element, [])
        actions = actions if isinstance(actions, list) else [actions]
        if len(actions) > most and element == "Action":
            raise ServiceError(
                "OverLimit",
                f"{len(actions)} actions were found in a statement from the submitted policy, max allowed is {most}",
            )
        for action in actions:
            if isinstance(action, str) and is_unknown(action):
                raise invalid_value(action, "ActionName", UNKNOWN_ACTION)


def check_policy(document: str) -> None:
    """Whether a policy of a queue says something that can be decided by; if not, why and where."""
    try:
        read_policy(document, Use.RESOURCE)
    except PolicyError as error:
        raise invalid_attribute("Policy", str(error)) from None


def _text(name: str, value: str, limits: Limits) -> str:
    return value


def _json_object(value: str) -> dict[str, Any] | None:
    """A JSON object of text that can be written again, or None."""
    try:
        document = json.loads(value)
        json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _redrive_policy(name: str, value: str, limits: Limits) -> str:
    if not value:
        return value
    document = _json_object(value)
    if document is None:
        raise invalid_parameter(
            f"Invalid value for the parameter {name}. Reason: Redrive policy is not a valid JSON map."
        )
    known = ("maxReceiveCount", "deadLetterTargetArn")
    for key in known:
        if key not in document:
            raise invalid_value(value, name, f"Redrive policy does not contain mandatory attribute: {key}.")
    if len(document) > len(known):
        raise invalid_value(
            value, name, "Only following attributes are supported: [maxReceiveCount, deadLetterTargetArn]."
        )
    most, given = limits.max_max_receive_count, document["maxReceiveCount"]
    text = "" if isinstance(given, bool) or not isinstance(given, int | str) else str(given)
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
        raise invalid_value(
            value,
            name,
            f"Invalid value for maxReceiveCount: {given}, valid values are from 1 to {most} both inclusive.",
        )
    target = document["deadLetterTargetArn"]
    if not isinstance(target, str) or not QueueKey.from_arn(target):
        foreign = isinstance(target, str) and target.startswith("arn:") and target.count(":") == 5
        reason = "Only SQS queues are valid resources for deadLetterTargetArn."
        raise invalid_value(value, name, reason if foreign else "Invalid value for deadLetterTargetArn.")
    return json.dumps({"deadLetterTargetArn": target, "maxReceiveCount": int(text)}, separators=(",", ":"))


def _redrive_allow_policy(name: str, value: str, limits: Limits) -> str:
    if not value:
        return value
    document, refusal = _json_object(value), "Amazon SQS can't create the redrive allow policy"
    permission, sources = (document or {}).get("redrivePermission"), (document or {}).get("sourceQueueArns", [])
    if (
        document is None
        or permission not in ("allowAll", "denyAll", "byQueue")
        or not document.keys() <= {"redrivePermission", "sourceQueueArns"}
        or not isinstance(sources, list)
        or not all(isinstance(arn, str) and QueueKey.from_arn(arn) for arn in sources)
    ):
        raise invalid_parameter(
            f"Invalid value for the parameter {name}. Reason: {refusal}, as it’s in an unsupported format."
        )
    problem = None
    if permission != "byQueue" and sources:
        problem = "To specify one or more source queue ARNs, you must set redrivePermission to byQueue."
    elif permission == "byQueue" and not sources:
        problem = (
            "When you specify the byQueue permission type, you must also specify one or more sourceQueueArns values."
        )
    elif len(sources) > limits.max_redrive_sources:
        problem = f"The maximum number of source queue ARNs you can specify is {limits.max_redrive_sources}."
    if problem:
        raise invalid_value(value, name, f"{refusal}. {problem}")
    return value


CHECKS: dict[str, Check] = {
    "DelaySeconds": _whole(0, "max_delay_seconds"),
    "MaximumMessageSize": _whole("min_maximum_message_size", "max_maximum_message_size"),
    "MessageRetentionPeriod": _whole("min_message_retention_period", "max_message_retention_period"),
    "ReceiveMessageWaitTimeSeconds": _whole(0, "max_receive_message_wait_time_seconds"),
    "VisibilityTimeout": _whole(0, "max_visibility_timeout"),
    "KmsDataKeyReusePeriodSeconds": _whole(60, 86_400),
    "Policy": _policy,
    "RedrivePolicy": _redrive_policy,
    "RedriveAllowPolicy": _redrive_allow_policy,
    "KmsMasterKeyId": _text,
    "SqsManagedSseEnabled": _boolean,
    "FifoQueue": _boolean,
    "ContentBasedDeduplication": _boolean,
    "DeduplicationScope": _one_of("queue", "messageGroup"),
    "FifoThroughputLimit": _one_of("perQueue", "perMessageGroupId"),
}

PROPAGATION_MS = 60_000
FIFO_ONLY = ("FifoQueue", "ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit")
MEASURED = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateNumberOfMessagesNotVisible",
    "CreatedTimestamp",
    "LastModifiedTimestamp",
    "QueueArn",
)
DEFAULTS = {
    "DelaySeconds": "0",
    "MaximumMessageSize": "1048576",
    "MessageRetentionPeriod": "345600",
    "ReceiveMessageWaitTimeSeconds": "0",
    "SqsManagedSseEnabled": "true",
    "VisibilityTimeout": "30",
}
FIFO_DEFAULTS = {
    "ContentBasedDeduplication": "false",
    "DeduplicationScope": "queue",
    "FifoThroughputLimit": "perQueue",
}


def unknown_attribute(name: str) -> ServiceError:
    return ServiceError("InvalidAttributeName", f"Unknown Attribute {name}.")


def checked(given: Mapping[str, str], fifo: bool, limits: Limits) -> Attributes:
    """What a request gives, each value checked by itself and put in its canonical form."""
    result = {}
    for name, value in given.items():
        if name not in CHECKS:
            raise unknown_attribute(name)
        if not fifo and name in FIFO_ONLY:
            if name in ("DeduplicationScope", "FifoThroughputLimit"):
                raise ServiceError(
                    "InvalidAttributeName", f"You can specify the {name} only when FifoQueue is set to true."
                )
            raise unknown_attribute(name)
        result[name] = CHECKS[name](name, value, limits)
    if result.get("KmsMasterKeyId") and result.get("SqsManagedSseEnabled") == "true":
        raise ServiceError("InvalidAttributeName", ONE_ENCRYPTION)
    return result


def merged(current: Mapping[str, str], change: Mapping[str, str]) -> Attributes:
    """The attributes after a change: an empty value removes, and one kind of encryption replaces the other."""
    if change.get("FifoQueue", current.get("FifoQueue")) != current.get("FifoQueue"):
        raise invalid_attribute("FifoQueue", "Modifying queue type is not supported.")
    result = dict(current) | dict(change)
    if change.get("SqsManagedSseEnabled") == "true":
        result["KmsMasterKeyId"] = ""
    elif change.get("KmsMasterKeyId"):
        result["SqsManagedSseEnabled"] = "false"
    if not result.get("KmsMasterKeyId"):
        result.pop("KmsDataKeyReusePeriodSeconds", None)
    result = {name: value for name, value in result.items() if value}
    if result.get("FifoThroughputLimit") == "perMessageGroupId" and result.get("DeduplicationScope") != "messageGroup":
        raise ServiceError(
            "InvalidAttributeValue",
            "The perMessageGroupId value is allowed only when the value for DeduplicationScope is messageGroup",
        )
    return result


def lagging(queue: Queue, changed: Attributes, now: int) -> Attributes:
    """The same attributes, with a note of the deduplication scope that stays in force for a while."""
    wanted, in_force = changed.get("DeduplicationScope", "queue"), queue.scope_in_force(now)
    if wanted == queue.attributes.get("DeduplicationScope", "queue"):
        return changed
    noted = {name: value for name, value in changed.items() if name != EARLIER_SCOPE}
    if wanted != in_force:
        noted[EARLIER_SCOPE] = f"{in_force} until {now + PROPAGATION_MS}"
    return noted


def effective(queue: Queue) -> Attributes:
    """Every attribute that has a value, set or by default."""
    defaults = DEFAULTS | FIFO_DEFAULTS if queue.fifo else DEFAULTS
    result = defaults | {name: value for name, value in queue.attributes.items() if name in CHECKS}
    if result.get("KmsMasterKeyId"):
        result.setdefault("KmsDataKeyReusePeriodSeconds", "300")
    return result


def described(queue: Queue, counts: Counts) -> Attributes:
    return effective(queue) | {
        "ApproximateNumberOfMessages": str(counts.visible),
        "ApproximateNumberOfMessagesDelayed": str(counts.delayed),
        "ApproximateNumberOfMessagesNotVisible": str(counts.in_flight),
        "CreatedTimestamp": str(queue.created // 1000),
        "LastModifiedTimestamp": str(queue.modified // 1000),
        "QueueArn": queue.arn,
    }


def difference(queue: Queue, wanted: Mapping[str, str]) -> str | None:
    """The first of the wanted attributes that the queue has with another value."""
    has = effective(queue)
    unused = set() if has.get("KmsMasterKeyId") else {"KmsDataKeyReusePeriodSeconds"}
    return next((n for n, value in wanted.items() if n not in unused and has.get(n, "") != value), None)


def allows_source(target: Queue, source: QueueKey) -> bool:
    """Whether a dead-letter queue's RedriveAllowPolicy lets a queue use it."""
    policy = json.loads(target.attributes.get("RedriveAllowPolicy") or "{}")
    match policy.get("redrivePermission", "allowAll"):
        case "allowAll":
            return True
        case "byQueue":
            return source.arn in policy["sourceQueueArns"]
        case _:
            return False
