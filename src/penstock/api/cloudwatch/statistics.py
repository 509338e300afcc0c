"""GetMetricStatistics: one metric, any of its five statistics, in order of time."""

from penstock.api.call import Call
from penstock.api.cloudwatch.answers import Answers
from penstock.api.cloudwatch.questions import check_period, moment, question, unknown_statistic, value
from penstock.aws import cloudwatch
from penstock.core.errors import ServiceError, invalid_parameter
from penstock.core.metrics import UNITS, Statistics

MOST_POINTS = 1440


async def get_metric_statistics(
    call: Call, request: cloudwatch.GetMetricStatisticsInput
) -> cloudwatch.GetMetricStatisticsOutput:
    wanted = _wanted(request)
    check_period(request.Period)
    span = moment(request.StartTime, "StartTime"), moment(request.EndTime, "EndTime")
    if span[0] >= span[1]:
        raise _combination("The parameter StartTime must be less than the parameter EndTime.")
    metric = cloudwatch.Metric(
        Namespace=request.Namespace, MetricName=request.MetricName, Dimensions=request.Dimensions
    )
    asked = question(call, metric, request.Unit, request.Period, span)
    if asked.most_points > MOST_POINTS:
        raise _combination(
            f"You have requested up to {asked.most_points:,} datapoints, which exceeds the limit of {MOST_POINTS:,}. "
            "You may reduce the datapoints requested by increasing Period, or decreasing the time range."
        )
    found = await Answers(call.site, call.now()).points(asked)
    return cloudwatch.GetMetricStatisticsOutput(
        Label=request.MetricName,
        Datapoints=[_point(at, one, wanted, UNITS[asked.metric]) for at, one in found.items()],
    )


def _wanted(request: cloudwatch.GetMetricStatisticsInput) -> list[str]:
    """Percentiles need every sample, and samples are not kept."""
    if not request.Statistics and not request.ExtendedStatistics:
        raise _combination("At least one of the parameters Statistics and ExtendedStatistics must be specified.")
    if request.Statistics and request.ExtendedStatistics:
        raise _combination("The parameters Statistics and ExtendedStatistics must not be specified together.")
    if request.ExtendedStatistics:
        raise invalid_parameter(unknown_statistic(request.ExtendedStatistics[0]))
    return request.Statistics or []


def _point(at: int, one: Statistics, wanted: list[str], unit: str) -> cloudwatch.Datapoint:
    point = cloudwatch.Datapoint(Timestamp=at // 1000, Unit=unit)
    for statistic in wanted:
        setattr(point, statistic, value(one, statistic))
    return point


def _combination(message: str) -> ServiceError:
    return ServiceError("InvalidParameterCombinationException", message)
