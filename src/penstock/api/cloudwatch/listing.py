"""ListMetrics: the queues of which anything is known, each with its nine metrics.

A queue is listed while the server counts it, and for as long as a window of the last two weeks is kept of it. Pages are
of whole queues.
"""

from penstock.api.call import Call
from penstock.api.cloudwatch.questions import DIMENSION, NAMESPACE
from penstock.api.listing import page, token_of
from penstock.aws import cloudwatch
from penstock.core.metrics import NAMES
from penstock.core.queue import QueueKey
from penstock.core.series import DAY_MS, PERIODS

MOST_METRICS = 500
LISTED_DAYS = 14
RECENT_MS = 3 * 3_600_000


async def list_metrics(call: Call, request: cloudwatch.ListMetricsInput) -> cloudwatch.ListMetricsOutput:
    _, after = page(None, request.NextToken)
    names = [name for name in sorted(NAMES) if request.MetricName in (None, name)]
    if not names or not _may_match(call, request):
        return cloudwatch.ListMetricsOutput(Metrics=[])
    most = MOST_METRICS // len(names)
    queues = await _queues(call, request, "".join(after[:1]), most + 1)
    shown = [_metric(queue, name) for queue in queues[:most] for name in names]
    return cloudwatch.ListMetricsOutput(
        Metrics=shown,
        NextToken=token_of((queues[most - 1],)) if len(queues) > most else None,
        OwningAccounts=[call.principal.account for _ in shown] if request.IncludeLinkedAccounts else None,
    )


def _may_match(call: Call, request: cloudwatch.ListMetricsInput) -> bool:
    return (
        request.Namespace in (None, NAMESPACE)
        and request.OwningAccount in (None, call.principal.account)
        and all(one.Name == DIMENSION for one in request.Dimensions or ())
    )


async def _queues(call: Call, request: cloudwatch.ListMetricsInput, after: str, limit: int) -> list[str]:
    """Names of those that are asked for, in order, some more than are needed at most."""
    account, region, store = call.principal.account, call.region, call.site.store
    since = call.now() - (RECENT_MS if request.RecentlyActive else LISTED_DAYS * DAY_MS)
    wanted = {one.Value for one in request.Dimensions or () if one.Value is not None}
    if len(wanted) > 1:
        return []
    if wanted:
        (name,) = wanted
        return [name] if name > after and await _is_known(call, name, since) else []
    counted = {key.name for key in store.traffic.queues() if key[:2] == (region, account) and key.name > after}
    return sorted({*counted, *await store.queues_with_windows(region, account, since, after, limit)})[:limit]


async def _is_known(call: Call, name: str, since: int) -> bool:
    key, store = QueueKey(call.region, call.principal.account, name), call.site.store
    if key in store.traffic.queues():
        return True
    return any([await store.windows(key, period, since, call.now(), 1) for period in PERIODS])


def _metric(queue: str, name: str) -> cloudwatch.Metric:
    dimension = cloudwatch.Dimension(Name=DIMENSION, Value=queue)
    return cloudwatch.Metric(Namespace=NAMESPACE, MetricName=name, Dimensions=[dimension])
