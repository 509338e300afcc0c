"""Headers of replies."""

import pytest

from penstock.aws.http import header


def test_a_header_is_one_line():
    assert header("x-amzn-requestid", "1") == b"x-amzn-requestid: 1\r\n"


@pytest.mark.parametrize("value", ["1\r\nSet-Cookie: a", "1\n", "\r"])
def test_a_value_that_would_be_more_than_one_line_is_refused(value):
    with pytest.raises(ValueError, match="line break"):
        header("x-amzn-requestid", value)
