"""Move tasks of every account, for operators: which are running, and the end of one."""

from penstock.api.administration import EVERY, wanted_account
from penstock.api.call import Call, Operation
from penstock.api.sqs.moves import MOST_LISTED, cancel, no_such_task
from penstock.aws import penstock
from penstock.core.errors import invalid_value
from penstock.core.move import MoveStatus, MoveTask
from penstock.core.queue import QueueKey


async def list_all_move_tasks(
    call: Call, request: penstock.ListAllMoveTasksRequest
) -> penstock.ListAllMoveTasksResult:  # fmt: skip
    account, arn = wanted_account(request.Account), request.QueueArn
    if arn is not None and QueueKey.from_arn(arn) is None:
        raise invalid_value(arn, "QueueArn", "Must be arn:aws:sqs:REGION:ACCOUNT:NAME, if provided.")
    store = call.site.store
    tasks = await (store.active_moves() if arn is None else store.list_moves(arn, MOST_LISTED))
    shown = [_shown(task) for task in tasks if account in (EVERY, _owner(task))]
    return penstock.ListAllMoveTasksResult(MoveTasks=shown)


async def admin_cancel_move_task(call: Call, request: penstock.AdminCancelMoveTaskRequest) -> penstock.AdminMoveTask:
    task = await call.site.store.find_move(request.TaskId)
    if task is None:
        raise no_such_task()
    await cancel(call, task)
    return _shown(task, MoveStatus.CANCELLING)


def _owner(task: MoveTask) -> str:
    source = QueueKey.from_arn(task.source_arn)
    return source.account if source else ""


def _shown(task: MoveTask, status: MoveStatus | None = None) -> penstock.AdminMoveTask:
    return penstock.AdminMoveTask(
        TaskId=task.id,
        Status=(status or task.status).value,
        SourceArn=task.source_arn,
        DestinationArn=task.destination_arn,
        MaxNumberOfMessagesPerSecond=task.rate,
        MessagesMoved=task.moved,
        MessagesToMove=task.to_move,
        FailureReason=task.failure,
        StartedTimestamp=task.started,
    )


OPERATIONS: dict[str, Operation] = {
    "ListAllMoveTasks": list_all_move_tasks,
    "AdminCancelMoveTask": admin_cancel_move_task,
}
