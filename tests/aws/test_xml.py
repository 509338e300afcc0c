"""Errors as XML, and what their headers tell clients of JSON."""

import pytest

from penstock.aws.xml import refuse


@pytest.mark.parametrize(("status", "name"), [(413, "RequestEntityTooLargeException"), (400, "SerializationException")])
def test_a_refusal_before_the_protocol_is_known_has_its_type_without_a_prefix(status: int, name: str) -> None:
    headers = refuse(status, "no").headers.decode().splitlines()
    assert [line for line in headers if line.startswith("x-amzn-errortype")] == [f"x-amzn-errortype: {name}"]
