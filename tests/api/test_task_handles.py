"""A handle of a move task says which queue it is about: who decides and who cancels must read the same in it."""

import base64
import json

import pytest
from deciding import ANN, DEAD_ARN, TASK, Operation, Town, allow, deny

CANCEL = Operation("sqs", "CancelMessageMoveTask")


@pytest.mark.parametrize(
    "handle",
    [
        TASK.encode(),
        TASK.encode("utf-16"),
        TASK.encode("utf-8-sig"),
        TASK.replace("{", '{"x": NaN, ', 1).encode(),
        TASK.replace("{", '{"x": "\t", ', 1).encode(),
        TASK.replace("{", '{"sourceArn": null, ', 1).encode(),
        json.dumps({**json.loads(TASK), "x": "\ud800"}).encode(),
    ],
)
def test_no_way_to_write_a_handle_gets_around_a_deny(town: Town, handle: bytes) -> None:
    town.give(ANN, allow("sqs:*"), deny("sqs:CancelMessageMoveTask", DEAD_ARN))
    outcome = town.call(ANN, CANCEL, TaskHandle=base64.b64encode(handle).decode())
    assert outcome.denied or outcome.message == "Value for parameter TaskHandle is invalid.", outcome
