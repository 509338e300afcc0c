"""What we answer and what Amazon's model says of it are the same."""

import botocore.session

from penstock import registry
from penstock.api.iam.quotas import QUOTAS
from penstock.aws.contract import read_model
from penstock.aws.errors import ERRORS, IAM

MODEL = botocore.session.get_session().get_component("data_loader").load_service_model("iam", "service-2")


def test_every_operation_that_is_compiled_is_answered() -> None:
    iam = registry.load(registry.SERVICES["iam"])
    assert iam.OPERATIONS.keys() == iam.SERVICE.operations.keys() == iam.RESOURCES.keys()


def test_errors_have_the_code_and_the_status_of_the_model() -> None:
    ours = {name: form for name, form in ERRORS.items() if form.json_type.startswith(IAM)}
    assert len(ours) >= 7
    for name, form in ours.items():
        theirs = MODEL["shapes"][name]["error"]
        assert (form.query_code, form.status) == (theirs["code"], theirs["httpStatusCode"])


def test_quotas_are_called_as_the_model_calls_them() -> None:
    assert set(QUOTAS) <= set(MODEL["shapes"]["summaryKeyType"]["enum"])


def test_the_model_that_we_read_is_the_one_that_boto3_reads() -> None:
    loader = botocore.session.get_session().get_component("data_loader")
    for name in ("sqs", "sts", "iam"):
        assert read_model(name) == loader.load_service_model(name, "service-2")
