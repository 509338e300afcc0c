"""The one line that is made of what Spark says when a query fails."""

from penstock.pipeline.streaming import cause

QUERY = """[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: {said} SQLSTATE: XXKST
=== Streaming Query ===
Identifier: [id = 1, runId = 2]
Current State: ACTIVE
"""


def test_a_query_that_failed_without_a_trace_is_told_without_its_plan() -> None:
    assert cause(QUERY.format(said="Python worker failed to connect back.")) == "Python worker failed to connect back."


def test_what_our_own_code_raised_comes_before_what_spark_made_of_it() -> None:
    ours = "penstock.pipeline.sqs.SqsError: the queue does not exist"
    assert cause(f"{QUERY.format(said='it failed')}\n{ours}\n") == "the queue does not exist"
