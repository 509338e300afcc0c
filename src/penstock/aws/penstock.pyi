# Written by `make stubs` from the service model of penstock (2026-11-01). Do not edit.
import msgspec

from penstock.aws.contract import Service

SERVICE: Service

class AttributeValue(msgspec.Struct, kw_only=True):
    DataType: str | None = None
    StringValue: str | None = None
    BinaryValue: bytes | None = None

class PeekMessagesRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str
    MaxNumberOfMessages: int | None = None
    NextToken: str | None = None

class PeekMessagesResult(msgspec.Struct, kw_only=True):
    Messages: list[PeekedMessage] | None = None
    NextToken: str | None = None

class PeekedMessage(msgspec.Struct, kw_only=True):
    MessageId: str | None = None
    Body: str | None = None
    MD5OfBody: str | None = None
    Attributes: dict[str, str] | None = None
    MessageAttributes: dict[str, AttributeValue] | None = None
