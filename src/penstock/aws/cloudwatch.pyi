# Written by `make stubs` from the service model of cloudwatch (2010-08-01). Do not edit.
import msgspec

from penstock.aws.contract import Service

SERVICE: Service

class Datapoint(msgspec.Struct, kw_only=True):
    Timestamp: str | float | None = None
    SampleCount: float | None = None
    Average: float | None = None
    Sum: float | None = None
    Minimum: float | None = None
    Maximum: float | None = None
    Unit: str | None = None
    ExtendedStatistics: dict[str, float] | None = None

class Dimension(msgspec.Struct, kw_only=True):
    Name: str
    Value: str

class DimensionFilter(msgspec.Struct, kw_only=True):
    Name: str
    Value: str | None = None

class GetMetricDataInput(msgspec.Struct, kw_only=True):
    MetricDataQueries: list[MetricDataQuery]
    StartTime: str | float
    EndTime: str | float
    NextToken: str | None = None
    ScanBy: str | None = None
    MaxDatapoints: int | None = None
    LabelOptions: LabelOptions | None = None

class GetMetricDataOutput(msgspec.Struct, kw_only=True):
    MetricDataResults: list[MetricDataResult] | None = None
    NextToken: str | None = None
    Messages: list[MessageData] | None = None

class GetMetricStatisticsInput(msgspec.Struct, kw_only=True):
    Namespace: str
    MetricName: str
    Dimensions: list[Dimension] | None = None
    StartTime: str | float
    EndTime: str | float
    Period: int
    Statistics: list[str] | None = None
    ExtendedStatistics: list[str] | None = None
    Unit: str | None = None

class GetMetricStatisticsOutput(msgspec.Struct, kw_only=True):
    Label: str | None = None
    Datapoints: list[Datapoint] | None = None

class LabelOptions(msgspec.Struct, kw_only=True):
    Timezone: str | None = None

class ListMetricsInput(msgspec.Struct, kw_only=True):
    Namespace: str | None = None
    MetricName: str | None = None
    Dimensions: list[DimensionFilter] | None = None
    NextToken: str | None = None
    RecentlyActive: str | None = None
    IncludeLinkedAccounts: bool | None = None
    OwningAccount: str | None = None

class ListMetricsOutput(msgspec.Struct, kw_only=True):
    Metrics: list[Metric] | None = None
    NextToken: str | None = None
    OwningAccounts: list[str] | None = None

class MessageData(msgspec.Struct, kw_only=True):
    Code: str | None = None
    Value: str | None = None

class Metric(msgspec.Struct, kw_only=True):
    Namespace: str | None = None
    MetricName: str | None = None
    Dimensions: list[Dimension] | None = None

class MetricDataQuery(msgspec.Struct, kw_only=True):
    Id: str
    MetricStat: MetricStat | None = None
    Expression: str | None = None
    Label: str | None = None
    ReturnData: bool | None = None
    Period: int | None = None
    AccountId: str | None = None

class MetricDataResult(msgspec.Struct, kw_only=True):
    Id: str | None = None
    Label: str | None = None
    Timestamps: list[str | float] | None = None
    Values: list[float] | None = None
    StatusCode: str | None = None
    Messages: list[MessageData] | None = None

class MetricStat(msgspec.Struct, kw_only=True):
    Metric: Metric
    Period: int
    Stat: str
    Unit: str | None = None
