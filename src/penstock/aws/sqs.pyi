# Written by `make stubs` from the service model of sqs (2012-11-05). Do not edit.
import msgspec

from penstock.aws.contract import Service

SERVICE: Service

class AddPermissionRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str
    Label: str
    AWSAccountIds: list[str]
    Actions: list[str]

class BatchResultErrorEntry(msgspec.Struct, kw_only=True):
    Id: str | None = None
    SenderFault: bool | None = None
    Code: str | None = None
    Message: str | None = None

class CancelMessageMoveTaskRequest(msgspec.Struct, kw_only=True):
    TaskHandle: str

class CancelMessageMoveTaskResult(msgspec.Struct, kw_only=True):
    ApproximateNumberOfMessagesMoved: int | None = None

class ChangeMessageVisibilityBatchRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str
    Entries: list[ChangeMessageVisibilityBatchRequestEntry]

class ChangeMessageVisibilityBatchRequestEntry(msgspec.Struct, kw_only=True):
    Id: str
    ReceiptHandle: str
    VisibilityTimeout: int | None = None

class ChangeMessageVisibilityBatchResult(msgspec.Struct, kw_only=True):
    Successful: list[ChangeMessageVisibilityBatchResultEntry] | None = None
    Failed: list[BatchResultErrorEntry] | None = None

class ChangeMessageVisibilityBatchResultEntry(msgspec.Struct, kw_only=True):
    Id: str | None = None

class ChangeMessageVisibilityRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str
    ReceiptHandle: str
    VisibilityTimeout: int

class CreateQueueRequest(msgspec.Struct, kw_only=True):
    QueueName: str
    Attributes: dict[str, str] | None = None
    tags: dict[str, str] | None = None

class CreateQueueResult(msgspec.Struct, kw_only=True):
    QueueUrl: str | None = None

class DeleteMessageBatchRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str
    Entries: list[DeleteMessageBatchRequestEntry]

class DeleteMessageBatchRequestEntry(msgspec.Struct, kw_only=True):
    Id: str
    ReceiptHandle: str

class DeleteMessageBatchResult(msgspec.Struct, kw_only=True):
    Successful: list[DeleteMessageBatchResultEntry] | None = None
    Failed: list[BatchResultErrorEntry] | None = None

class DeleteMessageBatchResultEntry(msgspec.Struct, kw_only=True):
    Id: str | None = None

class DeleteMessageRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str
    ReceiptHandle: str

class DeleteQueueRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str

class GetQueueAttributesRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str
    AttributeNames: list[str] | None = None

class GetQueueAttributesResult(msgspec.Struct, kw_only=True):
    Attributes: dict[str, str] | None = None

class GetQueueUrlRequest(msgspec.Struct, kw_only=True):
    QueueName: str
    QueueOwnerAWSAccountId: str | None = None

class GetQueueUrlResult(msgspec.Struct, kw_only=True):
    QueueUrl: str | None = None

class ListDeadLetterSourceQueuesRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str
    NextToken: str | None = None
    MaxResults: int | None = None

class ListDeadLetterSourceQueuesResult(msgspec.Struct, kw_only=True):
    queueUrls: list[str] | None = None
    NextToken: str | None = None

class ListMessageMoveTasksRequest(msgspec.Struct, kw_only=True):
    SourceArn: str
    MaxResults: int | None = None

class ListMessageMoveTasksResult(msgspec.Struct, kw_only=True):
    Results: list[ListMessageMoveTasksResultEntry] | None = None

class ListMessageMoveTasksResultEntry(msgspec.Struct, kw_only=True):
    TaskHandle: str | None = None
    Status: str | None = None
    SourceArn: str | None = None
    DestinationArn: str | None = None
    MaxNumberOfMessagesPerSecond: int | None = None
    ApproximateNumberOfMessagesMoved: int | None = None
    ApproximateNumberOfMessagesToMove: int | None = None
    FailureReason: str | None = None
    StartedTimestamp: int | None = None

class ListQueueTagsRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str

class ListQueueTagsResult(msgspec.Struct, kw_only=True):
    Tags: dict[str, str] | None = None

class ListQueuesRequest(msgspec.Struct, kw_only=True):
    QueueNamePrefix: str | None = None
    NextToken: str | None = None
    MaxResults: int | None = None

class ListQueuesResult(msgspec.Struct, kw_only=True):
    QueueUrls: list[str] | None = None
    NextToken: str | None = None

class Message(msgspec.Struct, kw_only=True):
    MessageId: str | None = None
    ReceiptHandle: str | None = None
    MD5OfBody: str | None = None
    Body: str | None = None
    Attributes: dict[str, str] | None = None
    MD5OfMessageAttributes: str | None = None
    MessageAttributes: dict[str, MessageAttributeValue] | None = None

class MessageAttributeValue(msgspec.Struct, kw_only=True):
    StringValue: str | None = None
    BinaryValue: bytes | None = None
    StringListValues: list[str] | None = None
    BinaryListValues: list[bytes] | None = None
    DataType: str | None = None

class MessageSystemAttributeValue(msgspec.Struct, kw_only=True):
    StringValue: str | None = None
    BinaryValue: bytes | None = None
    StringListValues: list[str] | None = None
    BinaryListValues: list[bytes] | None = None
    DataType: str | None = None

class PurgeQueueRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str

class ReceiveMessageRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str
    AttributeNames: list[str] | None = None
    MessageSystemAttributeNames: list[str] | None = None
    MessageAttributeNames: list[str] | None = None
    MaxNumberOfMessages: int | None = None
    VisibilityTimeout: int | None = None
    WaitTimeSeconds: int | None = None
    ReceiveRequestAttemptId: str | None = None

class ReceiveMessageResult(msgspec.Struct, kw_only=True):
    Messages: list[Message] | None = None

class RemovePermissionRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str
    Label: str

class SendMessageBatchRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str
    Entries: list[SendMessageBatchRequestEntry]

class SendMessageBatchRequestEntry(msgspec.Struct, kw_only=True):
    Id: str
    MessageBody: str
    DelaySeconds: int | None = None
    MessageAttributes: dict[str, MessageAttributeValue] | None = None
    MessageSystemAttributes: dict[str, MessageSystemAttributeValue] | None = None
    MessageDeduplicationId: str | None = None
    MessageGroupId: str | None = None

class SendMessageBatchResult(msgspec.Struct, kw_only=True):
    Successful: list[SendMessageBatchResultEntry] | None = None
    Failed: list[BatchResultErrorEntry] | None = None

class SendMessageBatchResultEntry(msgspec.Struct, kw_only=True):
    Id: str | None = None
    MessageId: str | None = None
    MD5OfMessageBody: str | None = None
    MD5OfMessageAttributes: str | None = None
    MD5OfMessageSystemAttributes: str | None = None
    SequenceNumber: str | None = None

class SendMessageRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str
    MessageBody: str
    DelaySeconds: int | None = None
    MessageAttributes: dict[str, MessageAttributeValue] | None = None
    MessageSystemAttributes: dict[str, MessageSystemAttributeValue] | None = None
    MessageDeduplicationId: str | None = None
    MessageGroupId: str | None = None

class SendMessageResult(msgspec.Struct, kw_only=True):
    MD5OfMessageBody: str | None = None
    MD5OfMessageAttributes: str | None = None
    MD5OfMessageSystemAttributes: str | None = None
    MessageId: str | None = None
    SequenceNumber: str | None = None

class SetQueueAttributesRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str
    Attributes: dict[str, str]

class StartMessageMoveTaskRequest(msgspec.Struct, kw_only=True):
    SourceArn: str
    DestinationArn: str | None = None
    MaxNumberOfMessagesPerSecond: int | None = None

class StartMessageMoveTaskResult(msgspec.Struct, kw_only=True):
    TaskHandle: str | None = None

class TagQueueRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str
    Tags: dict[str, str]

class UntagQueueRequest(msgspec.Struct, kw_only=True):
    QueueUrl: str
    TagKeys: list[str]
