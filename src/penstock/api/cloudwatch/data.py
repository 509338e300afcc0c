"""GetMetricData: several metrics at once, page by page.

A page has so many data points, or costs so many windows to read, at most. It goes on where the last one ended: within a
query, or at the next. Every page says of each query in it whether that was its end. Mathematics is not done here.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from penstock.api.call import Call
from penstock.api.cloudwatch.answers import Answers
from penstock.api.cloudwatch.questions import STATISTICS, Question, moment, question, unknown_statistic, value
from penstock.api.listing import place_of, token_of
from penstock.aws import cloudwatch
from penstock.core.errors import ServiceError
from penstock.core.metrics import Statistics

MOST_QUERIES, MOST_POINTS = 500, 100_800
MOST_READ = 100_000
"""Windows: a page of them takes about a second, in small steps."""
ASCENDING = "TimestampAscending"
ID = re.compile(r"[a-z][A-Za-z0-9_]*")


class Query(NamedTuple):
    id: str
    label: str
    statistic: str
    asked: Question


class Place(NamedTuple):
    """Where a page begins: at a query, after a data point of it that has been shown."""

    query: int = 0
    after: int | None = None


async def get_metric_data(call: Call, request: cloudwatch.GetMetricDataInput) -> cloudwatch.GetMetricDataOutput:
    queries, room = _queries(call, request), MOST_POINTS if request.MaxDatapoints is None else request.MaxDatapoints
    if not 1 <= room <= MOST_POINTS:
        raise _wrong(f"MaxDatapoints must be between 1 and {MOST_POINTS:,}.")
    place, backwards = _place(request.NextToken, len(queries)), request.ScanBy != ASCENDING
    answers, shown = Answers(call.site, call.now()), []
    while place.query < len(queries) and room > 0 and answers.read < MOST_READ:
        query = queries[place.query]
        found = _rest(await answers.points(query.asked), place.after, backwards)
        page = found[:room]
        shown.append(_result(query, page, whole=len(page) == len(found)))
        room -= len(page)
        place = Place(place.query + 1) if len(page) == len(found) else Place(place.query, page[-1][0])
    token = token_of(place) if place.query < len(queries) else None
    return cloudwatch.GetMetricDataOutput(MetricDataResults=shown, NextToken=token)


def _rest(points: dict[int, Statistics], after: int | None, backwards: bool) -> list[tuple[int, Statistics]]:
    order = sorted(points.items(), reverse=backwards)
    return [one for one in order if after is None or (one[0] < after if backwards else one[0] > after)]


def _result(query: Query, page: Sequence[tuple[int, Statistics]], whole: bool) -> cloudwatch.MetricDataResult:
    return cloudwatch.MetricDataResult(
        Id=query.id,
        Label=query.label,
        Timestamps=[at // 1000 for at, _ in page],
        Values=[value(one, query.statistic) for _, one in page],
        StatusCode="Complete" if whole else "PartialData",
    )


def _queries(call: Call, request: cloudwatch.GetMetricDataInput) -> list[Query]:
    """Those whose data is to be returned."""
    given = request.MetricDataQueries
    if not 1 <= len(given) <= MOST_QUERIES:
        raise _wrong(f"The parameter MetricDataQueries must have between 1 and {MOST_QUERIES} queries.")
    if len({query.Id for query in given}) < len(given):
        raise _wrong("The values for parameter id in MetricDataQueries are not unique.")
    span = moment(request.StartTime, "StartTime"), moment(request.EndTime, "EndTime")
    if span[0] >= span[1]:
        raise _wrong("The parameter StartTime must be less than the parameter EndTime.")
    read = [_query(call, query, span) for query in given]
    return [query for query, asked in zip(read, given, strict=True) if asked.ReturnData is not False]


def _query(call: Call, given: cloudwatch.MetricDataQuery, span: tuple[int, int]) -> Query:
    if not ID.fullmatch(given.Id):
        raise _wrong(f"The id {given.Id!r} must begin with a small letter and have letters, digits and _ alone.")
    if given.Expression is not None:
        raise _wrong(f"The query {given.Id} is an expression. Metric math and Metrics Insights are not answered here.")
    wanted = given.MetricStat
    if wanted is None:
        raise _wrong(f"The query {given.Id} must have a MetricStat.")
    if given.AccountId not in (None, call.principal.account):
        raise _wrong(f"The query {given.Id} is about another account, whose metrics are its own.")
    if wanted.Period % 60:
        raise _wrong(f"The period of the query {given.Id} must be a multiple of 60.")
    if wanted.Stat not in STATISTICS:
        raise _wrong(unknown_statistic(wanted.Stat))
    asked = question(call, wanted.Metric, wanted.Unit, wanted.Period, span)
    return Query(given.Id, given.Label or asked.metric, wanted.Stat, asked)


def _wrong(message: str) -> ServiceError:
    return ServiceError("ValidationError", message)


def _place(token: str | None, queries: int) -> Place:
    if not token:
        return Place()
    place = place_of(token, Place)
    if place is None or not 0 <= place.query < queries:
        raise ServiceError("InvalidNextToken", "The value of NextToken is none that this request was given.")
    return place
