"""The jobs' options: what is said of a wrong value, and how right ones reach the job."""

import pytest

from penstock.cli import main, parser_of
from penstock.cli.pipeline import asked
from penstock.pipeline.catalogue import JOBS, moment


def test_a_time_is_a_day_an_hour_with_or_without_offset_or_milliseconds() -> None:
    assert moment("2026-11-16") == 1794787200000
    assert moment("2026-11-16T08:30") == moment("2026-11-16T09:30+01:00") == 1794817800000
    assert moment("1794817800000") == 1794817800000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["land", "--segments-at-once", "0"], "argument --segments-at-once: '0' is not a whole number above 0"),
        (
            ["land", "--conf", "spark.ui.enabled"],
            "argument --conf: 'spark.ui.enabled' is not of the form spark.name=value",
        ),
        (["land", "--format", "orc"], "argument --format: invalid choice: 'orc'"),
        (["metrics", "--lateness", "soon"], "argument --lateness: 'soon' is not a whole number of seconds"),
        (
            ["metrics", "--to-endpoint-url", "localhost"],
            "argument --to-endpoint-url: 'localhost' is no http:// or https:// URL",
        ),
        (["sink"], "argument JOB: invalid choice: 'sink'"),
    ],
)
def test_a_wrong_value_is_named_with_what_would_be_right(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pipeline", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", JOBS)
def test_every_job_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline", name, "--help"]) == 0
    said = capsys.readouterr().out
    assert f"examples:\n  penstock pipeline {name}" in said


def test_what_was_asked_reaches_the_job() -> None:
    words = ["land", "--queue", "a", "--queue", "b", "--out", "t", "--once", "--journal", "j"]
    ask = asked(parser_of("pipeline").parse_args(words))
    assert (ask.job, ask.queue, ask.out, ask.once, ask.journal_place) == ("land", ("a", "b"), "t", True, "j")
    assert ask.checkpoint_place == "t/_checkpoints/land"
