"""How each error looks on the wire: its JSON type, its Query code, its status. One table, both protocols.

Modeled SQS errors go by the shape's name in JSON and by an older code in Query; those of IAM by the code in their
model; generic ones belong to the framework that Amazon's services share.
"""

from typing import NamedTuple

from penstock.aws.http import header
from penstock.core.errors import ServiceError

SQS, IAM, STS = "com.amazonaws.sqs#", "com.amazonaws.iam#", "com.amazonaws.sts#"
CLOUDWATCH = "com.amazonaws.cloudwatch#"
CORAL = "com.amazon.coral.service#"
LEGACY = "AWS.SimpleQueueService."


class Form(NamedTuple):
    json_type: str
    query_code: str
    status: int = 400

    @property
    def fault(self) -> str:
        return "Sender" if self.status < 500 else "Receiver"

    @property
    def headers(self) -> bytes:
        """Where clients of JSON find the name that Query has for the error."""
        return header("x-amzn-query-error", f"{self.query_code};{self.fault}")

    @property
    def headers_alone(self) -> bytes:
        """For those who cannot read the body: its type, too. Bare, because the SDK for Java cuts no prefix off here."""
        return self.headers + header("x-amzn-errortype", self.json_type.partition("#")[2])


def _modeled(shape: str, code: str, status: int = 400) -> tuple[str, Form]:
    return shape, Form(SQS + shape, code, status)


def _of_iam(code: str, status: int = 400) -> tuple[str, Form]:
    shape = f"{code}Exception"
    return shape, Form(IAM + shape, code, status)


def _of_sts(code: str) -> tuple[str, Form]:
    shape = f"{code.removesuffix('Exception')}Exception"
    return shape, Form(STS + shape, code)


def _of_cloudwatch(shape: str) -> tuple[str, Form]:
    return shape, Form(CLOUDWATCH + shape, shape.removesuffix("Exception"))


def _generic(code: str, exception: str, status: int = 400) -> tuple[str, Form]:
    return code, Form(CORAL + exception, code, status)


ERRORS: dict[str, Form] = dict(
    [
        _modeled("QueueDoesNotExist", LEGACY + "NonExistentQueue"),
        _modeled("QueueNameExists", "QueueAlreadyExists"),
        _modeled("QueueDeletedRecently", LEGACY + "QueueDeletedRecently"),
        _modeled("PurgeQueueInProgress", LEGACY + "PurgeQueueInProgress", 403),
        _modeled("ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", 404),
        _modeled("MessageNotInflight", LEGACY + "MessageNotInflight"),
        _modeled("InvalidMessageContents", "InvalidMessageContents"),
        _modeled("InvalidAttributeName", "InvalidAttributeName"),
        _modeled("InvalidAttributeValue", "InvalidAttributeValue"),
        _modeled("InvalidIdFormat", "InvalidIdFormat"),
        _modeled("EmptyBatchRequest", LEGACY + "EmptyBatchRequest"),
        _modeled("TooManyEntriesInBatchRequest", LEGACY + "TooManyEntriesInBatchRequest"),
        _modeled("BatchEntryIdsNotDistinct", LEGACY + "BatchEntryIdsNotDistinct"),
        _modeled("BatchRequestTooLong", LEGACY + "BatchRequestTooLong"),
        _modeled("InvalidBatchEntryId", LEGACY + "InvalidBatchEntryId"),
        _modeled("OverLimit", "OverLimit", 403),
        _modeled("RequestThrottled", "RequestThrottled", 403),
        _modeled("UnsupportedOperation", LEGACY + "UnsupportedOperation"),
        _modeled("ResourceNotFoundException", "ResourceNotFoundException", 404),
        _modeled("InvalidAddress", "InvalidAddress", 404),
        _modeled("InvalidSecurity", "InvalidSecurity", 403),
        _modeled("KmsAccessDenied", "KMS.AccessDeniedException"),
        _modeled("KmsDisabled", "KMS.DisabledException"),
        _modeled("KmsInvalidKeyUsage", "KMS.InvalidKeyUsageException"),
        _modeled("KmsInvalidState", "KMS.InvalidStateException"),
        _modeled("KmsNotFound", "KMS.NotFoundException"),
        _modeled("KmsThrottled", "KMS.ThrottlingException"),
        _modeled("KmsOptInRequired", "KMS.OptInRequired", 403),
        _of_iam("NoSuchEntity", 404),
        _of_iam("EntityAlreadyExists", 409),
        _of_iam("DeleteConflict", 409),
        _of_iam("LimitExceeded", 409),
        _of_iam("ConcurrentModification", 409),
        _of_iam("MalformedPolicyDocument"),
        _of_iam("InvalidInput"),
        _of_sts("PackedPolicyTooLarge"),
        _of_sts("InvalidAuthorizationMessageException"),
        _of_cloudwatch("InvalidParameterCombinationException"),
        _of_cloudwatch("InvalidNextToken"),
        _generic("ValidationError", "ValidationException"),
        _generic("InvalidParameterValue", "InvalidParameterValueException"),
        _generic("EmptyValue", "EmptyValueException"),
        _generic("MissingParameter", "MissingRequiredParameterException"),
        _generic("InvalidAction", "UnknownOperationException"),
        _generic("MalformedInput", "SerializationException"),
        _generic("AccessDenied", "AccessDeniedException", 403),
        _generic("InvalidClientTokenId", "UnrecognizedClientException", 403),
        _generic("SignatureDoesNotMatch", "InvalidSignatureException", 403),
        _generic("IncompleteSignature", "IncompleteSignatureException"),
        _generic("MissingAuthenticationToken", "MissingAuthenticationTokenException", 403),
        _generic("RequestExpired", "RequestExpiredException"),
        _generic("ExpiredToken", "ExpiredTokenException", 403),
        _generic("ThrottlingException", "ThrottlingException"),
        _generic("LimitExceeded", "LimitExceededException", 403),
        _generic("RequestEntityTooLarge", "RequestEntityTooLargeException", 413),
        _generic("InternalFailure", "InternalFailure", 500),
        _generic("ServiceUnavailable", "ServiceUnavailableException", 503),
    ]
)

QUERY_MESSAGES = {"QueueDoesNotExist": "The specified queue does not exist for this wsdl version."}
"""Where the Query protocol says it in other words."""


def form(error: ServiceError) -> Form:
    return ERRORS[error.shape]
