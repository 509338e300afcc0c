"""How each error looks on the wire, as Amazon's documents and recordings have it: copied from the specification (A.4),
not from the server's own table."""

from typing import NamedTuple

_LEGACY = "AWS.SimpleQueueService."
_MODELED = {
    "QueueDoesNotExist": (_LEGACY + "NonExistentQueue", 400),
    "QueueNameExists": ("QueueAlreadyExists", 400),
    "QueueDeletedRecently": (_LEGACY + "QueueDeletedRecently", 400),
    "PurgeQueueInProgress": (_LEGACY + "PurgeQueueInProgress", 403),
    "ReceiptHandleIsInvalid": ("ReceiptHandleIsInvalid", 404),
    "MessageNotInflight": (_LEGACY + "MessageNotInflight", 400),
    "InvalidMessageContents": ("InvalidMessageContents", 400),
    "InvalidAttributeName": ("InvalidAttributeName", 400),
    "InvalidAttributeValue": ("InvalidAttributeValue", 400),
    "EmptyBatchRequest": (_LEGACY + "EmptyBatchRequest", 400),
    "TooManyEntriesInBatchRequest": (_LEGACY + "TooManyEntriesInBatchRequest", 400),
    "BatchEntryIdsNotDistinct": (_LEGACY + "BatchEntryIdsNotDistinct", 400),
    "BatchRequestTooLong": (_LEGACY + "BatchRequestTooLong", 400),
    "InvalidBatchEntryId": (_LEGACY + "InvalidBatchEntryId", 400),
    "OverLimit": ("OverLimit", 403),
    "RequestThrottled": ("RequestThrottled", 403),
    "UnsupportedOperation": (_LEGACY + "UnsupportedOperation", 400),
    "ResourceNotFoundException": ("ResourceNotFoundException", 404),
    "InvalidAddress": ("InvalidAddress", 404),
    "InvalidSecurity": ("InvalidSecurity", 403),
    "KmsDisabled": ("KMS.DisabledException", 400),
    "KmsNotFound": ("KMS.NotFoundException", 400),
}
_GENERIC = {
    "InvalidParameterValue": ("InvalidParameterValueException", 400),
    "LimitExceeded": ("LimitExceededException", 403),
    "MissingParameter": ("MissingRequiredParameterException", 400),
    "InvalidAction": ("UnknownOperationException", 400),
    "MalformedInput": ("SerializationException", 400),
    "AccessDenied": ("AccessDeniedException", 403),
    "InvalidClientTokenId": ("UnrecognizedClientException", 403),
    "SignatureDoesNotMatch": ("InvalidSignatureException", 403),
    "IncompleteSignature": ("IncompleteSignatureException", 400),
    "MissingAuthenticationToken": ("MissingAuthenticationTokenException", 403),
}


class Refusal(NamedTuple):
    json_type: str
    code: str
    status: int
    plain_status: int
    """The status of a JSON reply to a client that did not ask for those of Query."""


REFUSALS = {
    shape: Refusal(f"com.amazonaws.sqs#{shape}", code, status, 400) for shape, (code, status) in _MODELED.items()
} | {
    code: Refusal(f"com.amazon.coral.service#{exception}", code, status, status)
    for code, (exception, status) in _GENERIC.items()
}
