"""Moments as the two protocols write them."""

import pytest

from penstock.api.cloudwatch.questions import moment
from penstock.core.errors import ServiceError


@pytest.mark.parametrize(
    "given",
    [1_800_014_400, 1_800_014_400.0, "2027-01-15T12:00:00Z", "2027-01-15T12:00:00", "2027-01-15T13:00:00.000+01:00"],
)
def test_a_moment_is_seconds_or_iso_8601(given: str | float) -> None:
    assert moment(given, "StartTime") == 1_800_014_400_000


@pytest.mark.parametrize("given", ["", "noon", "2027-13-01", -1, 1e12, 1e308, "0001-01-01T00:00:00Z", "9" * 400])
def test_what_is_no_time_is_refused_by_its_name(given: str | float) -> None:
    with pytest.raises(ServiceError, match=r"for parameter EndTime is invalid") as refused:
        moment(given, "EndTime")
    assert refused.value.shape == "InvalidParameterValue"
