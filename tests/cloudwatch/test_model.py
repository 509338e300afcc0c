"""What is answered, and what is said of the rest, in every protocol."""

import botocore.session
import pytest

from penstock import registry
from penstock.aws.contract import read_model
from penstock.aws.errors import CLOUDWATCH, ERRORS

from .watching import Watch

LOADER = botocore.session.get_session().get_component("data_loader")
MODEL = LOADER.load_service_model("cloudwatch", "service-2")


def test_every_operation_that_is_compiled_is_answered() -> None:
    module = registry.load(registry.SERVICES["cloudwatch"])
    assert module.OPERATIONS.keys() == module.SERVICE.operations.keys()


def test_the_model_that_we_read_is_the_one_that_boto3_reads() -> None:
    assert read_model("cloudwatch") == MODEL


def test_errors_have_the_code_and_the_status_of_the_model() -> None:
    ours = {name: form for name, form in ERRORS.items() if form.json_type.startswith(CLOUDWATCH)}
    assert len(ours) == 2
    for name, form in ours.items():
        theirs = MODEL["shapes"][name]["error"]
        assert (form.query_code, form.status) == (theirs["code"], theirs["httpStatusCode"])


@pytest.mark.parametrize("operation", ["list_dashboards", "describe_alarms"])
def test_other_operations_are_refused_as_iam_s_are(watch: Watch, operation: str) -> None:
    code, message = watch.refusal(operation)
    assert code == "InvalidAction"
    assert message.endswith("is not valid for this endpoint.")
