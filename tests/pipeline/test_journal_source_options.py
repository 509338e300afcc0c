"""Options of `penstock.journal`: what is wrong is said at analysis, with what is right."""

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from penstock.pipeline.sources.journal.options import OPTIONS, JournalOptions, Wrong

WRONG = [
    ({}, "needs the option path, the journal's folder, or endpoint"),
    ({"path": "x", "colour": "red"}, "has no option colour; it has path, endpoint, .* gaps$"),
    ({"path": "x", "corrupt": "drop"}, "corrupt .* cannot be 'drop': it is keep or fail"),
    ({"path": "x", "gaps": "no"}, "it is report or fail"),
    ({"path": "x", "maxEventsPerTrigger": "0"}, "it is a number of 1 or more"),
    ({"path": "x", "eventsPerPartition": "many"}, "it is a number of 1 or more"),
    ({"path": "x", "eventsPerPartition": "1", "numPartitions": "1"}, "eventsPerPartition or numPartitions, not both"),
    ({"path": "x", "from": "yesterday"}, "it is a time in ISO 8601, or epoch milliseconds"),
    ({"path": "x", "events": "SENT,SEND"}, "it is some of SENT, .* GAUGE, with commas between"),
    ({"path": "x", "queue": "a,,b"}, "it is names of queues, with commas between"),
    ({"path": "x", "startingOffsets": "newest"}, "it is earliest, latest, or the last number read of each node"),
    ({"path": "x", "startingOffsets": '{"n": -1}'}, "it is earliest, latest, or"),
    ({"path": "x", "endpoint": "http://h"}, "with both it needs the option reader too"),
    ({"path": "x", "reader": "audit"}, "needs the option endpoint with reader"),
    ({"endpoint": "queues.example.org"}, "it is the address of a server, as https://"),
    ({"endpoint": "http://h", "accessKey": "k"}, "belong together: both, or neither"),
]


@pytest.mark.parametrize(("given", "said"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, dict) else "")
def test_a_wrong_option_is_refused_with_what_would_be_right(given: dict[str, str], said: str) -> None:
    with pytest.raises(Wrong, match=said):
        JournalOptions.of(given)


@pytest.mark.parametrize("name", ["maxEventsPerTrigger", "reader"])
def test_options_of_streams_are_refused_in_a_batch(name: str) -> None:
    options = JournalOptions.of({"endpoint": "http://h", name: "5"})
    with pytest.raises(Wrong, match=rf"the option {name} .* is for streams: use spark.readStream"):
        options.for_batch()


def test_a_batch_cannot_begin_at_the_end() -> None:
    with pytest.raises(Wrong, match="there is nothing after the latest"):
        JournalOptions.of({"path": "x", "startingOffsets": "latest"}).for_batch()


def test_options_are_found_whatever_their_case() -> None:
    assert JournalOptions.of({"PATH": "x", "maxeventspertrigger": "5"}).number("maxEventsPerTrigger") == 5


@pytest.mark.parametrize(
    "time", ["2026-11-16T01:00:00Z", "2026-11-16T01:00", "2026-11-16T02:00+01:00", "1794790800000"]
)
def test_times_are_utc_unless_they_say_otherwise(time: str) -> None:
    assert JournalOptions.of({"path": "x", "from": time}).asked[0].value == 1_794_790_800_000


def test_spark_tells_of_an_unknown_option_at_analysis_and_lists_those_there_are(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException) as refused:
        spark.read.format("penstock.journal").option("pth", "x").load()
    assert f"penstock.journal has no option pth; it has {', '.join(OPTIONS)}" in str(refused.value)


def test_a_schema_with_a_column_that_is_not_there_is_refused(spark: SparkSession) -> None:
    frame = spark.read.format("penstock.journal").schema("seq string").load("/nowhere")
    with pytest.raises(AnalysisException, match=r"has no column seq of type string; it has node string, seq bigint"):
        frame.count()


def test_a_folder_that_is_not_there_is_named(spark: SparkSession) -> None:
    with pytest.raises(
        AnalysisException, match="there is no journal in /nowhere: give the folder that has node=… in it"
    ):
        spark.read.format("penstock.journal").load("/nowhere").count()
