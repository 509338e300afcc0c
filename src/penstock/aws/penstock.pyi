# Written by `make stubs` from the service model of penstock (2026-11-01). Do not edit.
import msgspec

from penstock.aws.contract import Service

SERVICE: Service

class AttributeValue(msgspec.Struct, kw_only=True):
    DataType: str | None = None
    StringValue: str | None = None
    BinaryValue: bytes | None = None

class CommitJournalReaderRequest(msgspec.Struct, kw_only=True):
    ReaderName: str
    Node: str | None = None
    Seq: int

class GetQueueMetricsRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str | None = None
    QueueName: str | None = None
    Account: str | None = None
    StartTime: int | None = None
    EndTime: int | None = None
    Period: int | None = None
    MaxResults: int | None = None
    NextToken: str | None = None

class GetQueueMetricsResult(msgspec.Struct, kw_only=True):
    CountingSince: int | None = None
    Windows: list[QueueMetricsWindow] | None = None
    NextToken: str | None = None

class JournalReader(msgspec.Struct, kw_only=True):
    ReaderName: str | None = None
    RegisteredTimestamp: int | None = None
    Committed: dict[str, int] | None = None
    Lag: int | None = None

class JournalSegment(msgspec.Struct, kw_only=True):
    Node: str | None = None
    FirstSeq: int | None = None
    LastSeq: int | None = None
    Date: str | None = None
    Bytes: int | None = None
    Name: str | None = None

class ListJournalReadersRequest(msgspec.Struct, kw_only=True):
    pass

class ListJournalReadersResult(msgspec.Struct, kw_only=True):
    Readers: list[JournalReader] | None = None

class ListJournalSegmentsRequest(msgspec.Struct, kw_only=True):
    pass

class ListJournalSegmentsResult(msgspec.Struct, kw_only=True):
    Node: str | None = None
    LastSeq: int | None = None
    Segments: list[JournalSegment] | None = None

class MetricStatistics(msgspec.Struct, kw_only=True):
    SampleCount: int | None = None
    Sum: int | None = None
    Minimum: int | None = None
    Maximum: int | None = None

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

class QueueMetricsWindow(msgspec.Struct, kw_only=True):
    Account: str | None = None
    QueueName: str | None = None
    StartTime: int | None = None
    Partial: bool | None = None
    Metrics: dict[str, MetricStatistics] | None = None

class ReadJournalRequest(msgspec.Struct, kw_only=True):
    Node: str | None = None
    FromSeq: int | None = None
    MaxBytes: int | None = None
    Queue: str | None = None
    WaitTimeSeconds: int | None = None

class ReadJournalResult(msgspec.Struct, kw_only=True):
    Node: str | None = None
    FirstSeq: int | None = None
    NextSeq: int | None = None
    More: bool | None = None
    Lines: bytes | None = None

class RegisterJournalReaderRequest(msgspec.Struct, kw_only=True):
    ReaderName: str

class RemoveJournalReaderRequest(msgspec.Struct, kw_only=True):
    ReaderName: str
