"""What each operation is about, for whoever decides whether the caller may."""

from types import SimpleNamespace
from typing import Any

import pytest

from penstock.api.iam.resources import ALSO, RESOURCES
from penstock.api.identities import Identities
from penstock.aws.iam import SERVICE
from penstock.core.directory import AccessKey, Group, Role, User
from penstock.core.identity import root_of
from penstock.core.vault import KEY_BYTES, Vault
from penstock.stores.memory import MemoryStore

ACCOUNT = "111122223333"
IAM = f"arn:aws:iam::{ACCOUNT}:"
ANNA = User(account=ACCOUNT, name="Anna", id="AIDA", path="/dev/")
POLICY = f"{IAM}policy/p"

ROWS: list[tuple[str, dict[str, Any], str]] = [
    ("CreateUser", {"UserName": "new", "Path": "/x/"}, f"{IAM}user/x/new"),
    ("CreateUser", {"UserName": "anna", "Path": "/x/"}, f"{IAM}user/dev/Anna"),
    ("GetUser", {"UserName": "ANNA"}, f"{IAM}user/dev/Anna"),
    ("GetUser", {}, f"{IAM}user/dev/Anna"),
    ("DeleteUser", {"UserName": "nobody"}, f"{IAM}user/nobody"),
    ("ListUsers", {}, "*"),
    ("AddUserToGroup", {"GroupName": "Senders", "UserName": "anna"}, f"{IAM}group/senders"),
    ("ListGroupsForUser", {"UserName": "anna"}, f"{IAM}user/dev/Anna"),
    ("CreateAccessKey", {}, f"{IAM}user/dev/Anna"),
    ("DeleteAccessKey", {"UserName": "bob", "AccessKeyId": "K"}, f"{IAM}user/bob"),
    ("GetAccessKeyLastUsed", {"AccessKeyId": "AKIAOFANNA"}, f"{IAM}user/dev/Anna"),
    ("GetAccessKeyLastUsed", {"AccessKeyId": "AKIAOFNOBODY"}, "*"),
    ("PutGroupPolicy", {"GroupName": "new", "PolicyName": "p", "PolicyDocument": ""}, f"{IAM}group/new"),
    ("AttachUserPolicy", {"UserName": "anna", "PolicyArn": POLICY}, f"{IAM}user/dev/Anna"),
    ("GetPolicy", {"PolicyArn": POLICY}, POLICY),
    ("CreatePolicyVersion", {"PolicyArn": POLICY, "PolicyDocument": ""}, POLICY),
    ("TagPolicy", {"PolicyArn": POLICY, "Tags": []}, POLICY),
    ("CreatePolicy", {"PolicyName": "new", "Path": "/x/", "PolicyDocument": ""}, f"{IAM}policy/x/new"),
    ("ListPolicies", {}, "*"),
    ("CreateRole", {"RoleName": "new", "Path": "/x/", "AssumeRolePolicyDocument": ""}, f"{IAM}role/x/new"),
    ("UpdateAssumeRolePolicy", {"RoleName": "WORKER", "PolicyDocument": ""}, f"{IAM}role/svc/worker"),
    ("SimulatePrincipalPolicy", {"PolicySourceArn": ANNA.arn, "ActionNames": []}, ANNA.arn),
    ("SimulateCustomPolicy", {"PolicyInputList": [], "ActionNames": []}, "*"),
    ("GetAccountSummary", {}, "*"),
    ("ListMFADevices", {}, f"{IAM}user/dev/Anna"),
]


@pytest.fixture
async def identities() -> Identities:
    identities = Identities(MemoryStore(), Vault([b"m" * KEY_BYTES]), {})
    async with identities.changing():
        await identities.save(
            ANNA,
            Group(account=ACCOUNT, name="senders", id="AGPA"),
            Role(account=ACCOUNT, name="worker", id="AROA", path="/svc/", trust="{}"),
            AccessKey(account=ACCOUNT, name="AKIAOFANNA", user="anna"),
        )
    return identities


@pytest.mark.parametrize(("action", "given", "arn"), ROWS, ids=lambda value: value if isinstance(value, str) else "")
def test_an_operation_is_about(identities: Identities, action: str, given: dict[str, Any], arn: str) -> None:
    call: Any = SimpleNamespace(site=SimpleNamespace(identities=identities), principal=ANNA.principal)
    assert RESOURCES[action](call, SERVICE.operations[action].input(**given)) == arn


RENAMED: list[tuple[str, dict[str, Any], str]] = [
    ("UpdateUser", {"UserName": "anna", "NewUserName": "Bob"}, f"{IAM}user/dev/Bob"),
    ("UpdateUser", {"UserName": "anna", "NewPath": "/admins/"}, f"{IAM}user/admins/Anna"),
    ("UpdateUser", {"UserName": "nobody", "NewUserName": "bob"}, f"{IAM}user/bob"),
    ("UpdateGroup", {"GroupName": "SENDERS", "NewGroupName": "admins"}, f"{IAM}group/admins"),
]


@pytest.mark.parametrize(("action", "given", "arn"), RENAMED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_new_name_counts_as_well(identities: Identities, action: str, given: dict[str, Any], arn: str) -> None:
    call: Any = SimpleNamespace(site=SimpleNamespace(identities=identities), principal=root_of(ACCOUNT))
    assert ALSO[action][0](call, SERVICE.operations[action].input(**given)) == arn


def test_the_account_itself_that_names_nobody_is_about_itself(identities: Identities) -> None:
    call: Any = SimpleNamespace(site=SimpleNamespace(identities=identities), principal=root_of(ACCOUNT))
    assert RESOURCES["GetUser"](call, SERVICE.operations["GetUser"].input()) == f"{IAM}root"
