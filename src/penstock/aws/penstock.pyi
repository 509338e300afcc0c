# Written by `make stubs` from the service model of penstock (2026-11-01). Do not edit.
import msgspec

from penstock.aws.contract import Service

SERVICE: Service

class AccountContents(msgspec.Struct, kw_only=True):
    Queues: int | None = None
    Messages: int | None = None
    Bytes: int | None = None
    Users: int | None = None
    Groups: int | None = None
    Roles: int | None = None
    Policies: int | None = None
    Keys: int | None = None

class AccountDescription(msgspec.Struct, kw_only=True):
    AccountId: str | None = None
    Title: str | None = None
    Origin: str | None = None
    CreatedTimestamp: int | None = None
    Queues: int | None = None
    Users: int | None = None
    Keys: int | None = None
    MaxQueues: int | None = None
    OwnQuota: bool | None = None

class AdminCancelMoveTaskRequest(msgspec.Struct, kw_only=True):
    TaskId: str

class AdminDeleteQueueRequest(msgspec.Struct, kw_only=True):
    QueueArn: str
    DryRun: bool | None = None

class AdminDeleteQueueResult(msgspec.Struct, kw_only=True):
    Queue: QueueDescription | None = None
    Deleted: bool | None = None

class AdminMoveTask(msgspec.Struct, kw_only=True):
    TaskId: str | None = None
    Status: str | None = None
    SourceArn: str | None = None
    DestinationArn: str | None = None
    MaxNumberOfMessagesPerSecond: int | None = None
    MessagesMoved: int | None = None
    MessagesToMove: int | None = None
    FailureReason: str | None = None
    StartedTimestamp: int | None = None

class AdminPeekMessagesRequest(msgspec.Struct, kw_only=True):
    QueueArn: str
    MaxNumberOfMessages: int | None = None
    NextToken: str | None = None

class AdminPurgeQueueRequest(msgspec.Struct, kw_only=True):
    QueueArn: str
    DryRun: bool | None = None

class AdminPurgeQueueResult(msgspec.Struct, kw_only=True):
    Queue: QueueDescription | None = None
    Purged: bool | None = None

class AttributeValue(msgspec.Struct, kw_only=True):
    DataType: str | None = None
    StringValue: str | None = None
    BinaryValue: bytes | None = None

class AuditEvent(msgspec.Struct, kw_only=True):
    Seq: int | None = None
    Timestamp: int | None = None
    Kind: str | None = None
    Account: str | None = None
    Principal: str | None = None
    AccessKeyId: str | None = None
    SourceAddress: str | None = None
    Region: str | None = None
    Service: str | None = None
    Action: str | None = None
    Resource: str | None = None
    Result: str | None = None
    ErrorCode: str | None = None
    RequestId: str | None = None
    Count: int | None = None
    Hash: str | None = None

class CommitJournalReaderRequest(msgspec.Struct, kw_only=True):
    ReaderName: str
    Node: str | None = None
    Seq: int

class ComputedWindow(msgspec.Struct, kw_only=True):
    Region: str | None = None
    Account: str
    QueueName: str
    Period: int
    StartTime: int
    Metrics: dict[str, MetricStatistics]

class CreateAccountRequest(msgspec.Struct, kw_only=True):
    AccountId: str | None = None
    Title: str | None = None
    MaxQueues: int | None = None

class CreateAccountResult(msgspec.Struct, kw_only=True):
    Account: AccountDescription | None = None
    RootKey: RootKey | None = None

class DeleteAccountRequest(msgspec.Struct, kw_only=True):
    AccountId: str
    Force: bool | None = None
    DryRun: bool | None = None

class DeleteAccountResult(msgspec.Struct, kw_only=True):
    Account: AccountDescription | None = None
    Deleted: bool | None = None
    Contents: AccountContents | None = None

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

class ListAccountsRequest(msgspec.Struct, kw_only=True):
    MaxResults: int | None = None
    NextToken: str | None = None

class ListAccountsResult(msgspec.Struct, kw_only=True):
    Accounts: list[AccountDescription] | None = None
    NextToken: str | None = None

class ListAllMoveTasksRequest(msgspec.Struct, kw_only=True):
    Account: str | None = None
    QueueArn: str | None = None

class ListAllMoveTasksResult(msgspec.Struct, kw_only=True):
    MoveTasks: list[AdminMoveTask] | None = None

class ListAllQueuesRequest(msgspec.Struct, kw_only=True):
    Account: str | None = None
    Region: str | None = None
    QueueNamePrefix: str | None = None
    MaxResults: int | None = None
    NextToken: str | None = None

class ListAllQueuesResult(msgspec.Struct, kw_only=True):
    CountingSince: int | None = None
    Queues: list[QueueDescription] | None = None
    NextToken: str | None = None

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

class LookupAuditEventsRequest(msgspec.Struct, kw_only=True):
    StartTime: int | None = None
    EndTime: int | None = None
    Account: str | None = None
    Action: str | None = None
    Principal: str | None = None
    Result: str | None = None
    MaxResults: int | None = None
    NextToken: str | None = None

class LookupAuditEventsResult(msgspec.Struct, kw_only=True):
    Events: list[AuditEvent] | None = None
    NextToken: str | None = None

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

class PutQueueMetricsRequest(msgspec.Struct, kw_only=True):
    Windows: list[ComputedWindow]

class PutQueueMetricsResult(msgspec.Struct, kw_only=True):
    Kept: int | None = None

class QueueDescription(msgspec.Struct, kw_only=True):
    QueueArn: str | None = None
    Account: str | None = None
    Region: str | None = None
    QueueName: str | None = None
    VisibleMessages: int | None = None
    InFlightMessages: int | None = None
    DelayedMessages: int | None = None
    Bytes: int | None = None
    AgeOfOldestMessage: int | None = None
    CreatedTimestamp: int | None = None
    LastSentTimestamp: int | None = None
    LastReceivedTimestamp: int | None = None

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

class RootKey(msgspec.Struct, kw_only=True):
    AccessKeyId: str | None = None
    SecretAccessKey: str | None = None

class RotateRootKeyRequest(msgspec.Struct, kw_only=True):
    AccountId: str
    KeepOld: bool | None = None

class RotateRootKeyResult(msgspec.Struct, kw_only=True):
    AccountId: str | None = None
    RootKey: RootKey | None = None
    RemovedAccessKeyIds: list[str] | None = None

class SetAccountQuotaRequest(msgspec.Struct, kw_only=True):
    AccountId: str
    MaxQueues: int | None = None
