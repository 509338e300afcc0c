"""The actions of SQS that policies of queues can speak of, and to whom they can be given. What is done with batches
needs the right to the single action, so the names of those are not here."""

SHARED_ACTIONS = (
    "SendMessage",
    "ReceiveMessage",
    "DeleteMessage",
    "ChangeMessageVisibility",
    "GetQueueAttributes",
    "GetQueueUrl",
    "ListDeadLetterSourceQueues",
    "PurgeQueue",
)
OWNER_ACTIONS = (
    "AddPermission", "CancelMessageMoveTask", "CreateQueue", "DeleteQueue", "ListMessageMoveTasks", "ListQueues",
    "ListQueueTags", "RemovePermission", "SetQueueAttributes", "StartMessageMoveTask", "TagQueue", "UntagQueue",
)  # fmt: skip
OWNER_ONLY = "Only the queue owner is allowed to invoke this action."
UNKNOWN_ACTION = "Please refer to the appropriate WSDL for a list of valid actions."

_KNOWN = frozenset(name.lower() for name in (*SHARED_ACTIONS, *OWNER_ACTIONS))


def is_unknown(action: str) -> bool:
    """Whether it names an action of SQS that there is not. One with wildcards may match what comes later."""
    vendor, _, name = action.lower().partition(":")
    return vendor == "sqs" and (name.endswith("batch") or not (name in _KNOWN or "*" in name or "?" in name))
