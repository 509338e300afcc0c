"""Message move tasks: started, listed and cancelled here, carried out by `loops.mover`."""

import uuid
from dataclasses import replace

from penstock.api.authorise import require
from penstock.api.call import Call
from penstock.aws import sqs
from penstock.core.errors import ServiceError, invalid_parameter, invalid_value
from penstock.core.move import MoveStatus, MoveTask, TaskHandle
from penstock.core.queue import Queue, QueueKey

ARN_FORMAT = "arn:<partition>:<service>:<region>:<account-id>:<resource-id>"
MOST_LISTED = 10
SENDING = "sqs:SendMessage"


async def start_message_move_task(
    call: Call, request: sqs.StartMessageMoveTaskRequest
) -> sqs.StartMessageMoveTaskResult:
    rate, most = request.MaxNumberOfMessagesPerSecond, call.site.limits.max_move_rate
    if rate is not None and not 1 <= rate <= most:
        raise invalid_parameter(
            "Value for parameter MaxNumberOfMessagesPerSecond is invalid. "
            f"Reason: You must enter a number that's between 1 and {most}."
        )
    source = await _queue(call, request.SourceArn, "SourceArn")
    if request.DestinationArn is not None:
        destination = await _queue(call, request.DestinationArn, "DestinationArn", SENDING)
        if destination.id == source.id:
            raise invalid_parameter("Source queue arn and destination queue arn cannot be the same.")
        if destination.fifo != source.fifo:
            raise invalid_parameter("The source queue and destination queue must be of the same queue type.")
    sources = await call.site.store.list_sources(source)
    if not sources:
        raise invalid_parameter("Source queue must be configured as a Dead Letter Queue.")
    while sources and request.DestinationArn is None:
        for queue in sources:
            require(call, SENDING, queue.key, queue)
        sources = await call.site.store.list_sources(source, sources[-1].key.name)
    now = call.now()
    counts = await call.site.store.counts(source.id, now)
    task = MoveTask(str(uuid.uuid4()), source.arn, request.DestinationArn, rate, counts.visible, now)
    if not await call.site.store.add_move(task):
        raise invalid_parameter(
            "There is already a task running. Only one active task is allowed for a source queue arn at a given time."
        )
    call.site.move_started()
    return sqs.StartMessageMoveTaskResult(TaskHandle=_handle(task))


async def list_message_move_tasks(
    call: Call, request: sqs.ListMessageMoveTasksRequest
) -> sqs.ListMessageMoveTasksResult:
    wanted = 1 if request.MaxResults is None else request.MaxResults
    if not 1 <= wanted <= MOST_LISTED:
        raise invalid_value(wanted, "MaxResults", f"Must be between 1 and {MOST_LISTED}, if provided.")
    source = await _queue(call, request.SourceArn, "SourceArn")
    tasks = await call.site.store.list_moves(source.arn, wanted)
    return sqs.ListMessageMoveTasksResult(Results=[_shown(task) for task in tasks] or None)


async def cancel_message_move_task(
    call: Call, request: sqs.CancelMessageMoveTaskRequest
) -> sqs.CancelMessageMoveTaskResult:
    task_id, source_arn = _named(request.TaskHandle)
    source = await _queue(call, source_arn, "SourceArn")
    task = await call.site.store.find_move(task_id)
    if task is None or task.source_arn != source.arn:
        raise no_such_task()
    await cancel(call, task)
    return sqs.CancelMessageMoveTaskResult(ApproximateNumberOfMessagesMoved=task.moved)


async def cancel(call: Call, task: MoveTask) -> None:
    if task.status is not MoveStatus.RUNNING:
        raise invalid_parameter("Only active tasks can be cancelled.")
    await call.site.store.save_move(replace(task, status=MoveStatus.CANCELLING))
    call.site.move_started()


def no_such_task() -> ServiceError:
    return ServiceError("ResourceNotFoundException", "Task does not exist.")


async def _queue(call: Call, arn: str, parameter: str, doing: str = "") -> Queue:
    """A queue of the caller's own, by its ARN: tasks do not cross accounts. `doing` is what is done to it beside."""
    if arn.count(":") != 5 or not arn.startswith("arn:"):
        raise invalid_parameter(f"You must use this format to specify the {parameter}: {ARN_FORMAT}")
    key = QueueKey.from_arn(arn)
    own = key is not None and key[:2] == (call.region, call.principal.account)
    queue = await call.site.store.find_queue(key) if key and own else None
    if doing and key and own:
        require(call, doing, key, queue)
    if queue is None:
        raise ServiceError(
            "ResourceNotFoundException", f"The resource that you specified for the {parameter} parameter doesn't exist."
        )
    return queue


def _named(given: str) -> tuple[str, str]:
    """The id of a task, and the ARN of the queue that it moves from."""
    handle = TaskHandle.read(given)
    try:
        return str(uuid.UUID(handle.task_id if handle else "")), handle.source_arn if handle else ""
    except ValueError:
        raise invalid_parameter("Value for parameter TaskHandle is invalid.") from None


def _handle(task: MoveTask) -> str:
    return str(TaskHandle(task.id, task.source_arn))


def _shown(task: MoveTask) -> sqs.ListMessageMoveTasksResultEntry:
    return sqs.ListMessageMoveTasksResultEntry(
        TaskHandle=_handle(task) if task.status is MoveStatus.RUNNING else None,
        Status=task.status.value,
        SourceArn=task.source_arn,
        DestinationArn=task.destination_arn,
        MaxNumberOfMessagesPerSecond=task.rate,
        ApproximateNumberOfMessagesMoved=task.moved,
        ApproximateNumberOfMessagesToMove=task.to_move,
        FailureReason=task.failure,
        StartedTimestamp=task.started,
    )
