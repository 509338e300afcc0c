"""Which calls are written down, and what is said of them: through the whole pipeline, with requests really signed."""

import asyncio
import json
from typing import Any

import msgspec
import pytest
from botocore.awsrequest import AWSRequest

from penstock import registry
from penstock.api.audit import audited, kind_of
from penstock.api.call import Call
from penstock.audit.log import Log
from penstock.aws.http import HttpRequest
from penstock.core.audit import Entry, Kind
from penstock.core.clock import ManualClock
from penstock.stores.memory import MemoryStore
from sqs.harness import ACCOUNT, HOST, KEYS, OTHER_ACCOUNT, REGION, ROOT, STRANGER, Signer, World, make

from .conftest import Begin, FullDisk, kept

OF_ORDERS = f"arn:aws:sqs:{REGION}:{ACCOUNT}:orders"
PERMISSION: dict[str, Any] = {"Label": "partner", "AWSAccountIds": [OTHER_ACCOUNT], "Actions": ["SendMessage"]}
POLICY = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "sqs:SendMessage", "Resource": OF_ORDERS}],
    }
)
SECRET = "hush-hush-this-is-no-one-s-business"


@pytest.fixture
def log(begin: Begin) -> Log:
    return begin()


@pytest.fixture
async def world(log: Log, clock: ManualClock) -> World:
    return await world_with(log, clock)


async def world_with(log: Log, clock: ManualClock) -> World:
    store = MemoryStore()
    await store.open()
    world = World(store, clock=clock, audit=log, root_account=ACCOUNT)
    await world.identities.refresh()
    return world


async def entries(log: Log) -> list[Entry]:
    await log.lasting()
    return [one.entry for one in kept(log)]


async def test_a_denied_call_says_who_from_where_what_on_what_and_why(world: World, log: Log) -> None:
    await make(world.client("json"), "orders")
    reply = await world.client("json", STRANGER).call(
        "SendMessage", QueueUrl=f"http://x/{ACCOUNT}/orders", MessageBody=SECRET
    )
    (found,) = await entries(log)
    assert found == Entry(
        seq=1,
        ts_ms=world.clock.now(),
        kind=Kind.DENIED,
        account=OTHER_ACCOUNT,
        principal=KEYS[STRANGER].principal.arn,
        access_key=STRANGER,
        peer=world.peer,
        region=REGION,
        service="sqs",
        action="SendMessage",
        resource=OF_ORDERS,
        result="denied",
        code="AccessDenied",
        request_id=reply.headers["x-amzn-RequestId".lower()],
    )


async def test_a_wrong_signature_is_written_with_the_key_it_claims_and_no_caller(world: World, log: Log) -> None:
    await world.client("json", ROOT, secret="wrong").call("ListQueues")
    (found,) = await entries(log)
    assert (found.code, found.result, found.access_key) == ("SignatureDoesNotMatch", "denied", ROOT)
    assert (found.account, found.principal, found.peer) == ("", "", world.peer)


async def test_a_key_that_nobody_has_is_not_written_for_it_may_be_a_secret(world: World, log: Log) -> None:
    await world.client("json", SECRET).call("ListQueues")
    (found,) = await entries(log)
    assert (found.code, found.access_key) == ("InvalidClientTokenId", "")
    assert SECRET.encode() not in log.files.all()[0].path.read_bytes()


async def test_a_call_without_a_signature_is_written(world: World, log: Log) -> None:
    await world.http("POST", "/", {"x-amz-target": "AmazonSQS.ListQueues", "host": "queue.test"}, b"{}")
    (found,) = await entries(log)
    assert (found.code, found.kind) == ("MissingAuthenticationToken", Kind.DENIED)
    assert found.action == "ListQueues"


@pytest.mark.parametrize(
    ("target", "headers", "body", "action"),
    [
        ("/?Action=ListQueues&Version=1", {}, b"", "ListQueues"),
        ("/", {}, b"Action=CreateUser&UserName=anna", "CreateUser"),
        ("/service/GraniteServiceVersion20100801/operation/ListMetrics", {}, b"", "ListMetrics"),
        ("/", {"x-amz-target": "AmazonSQS.<b>"}, b"", ""),
        ("/", {}, b"NoAction=CreateUser&Action=a%0Ab", ""),
    ],
)
async def test_one_who_was_not_let_in_is_written_with_what_it_says_it_wanted(
    world: World, log: Log, target: str, headers: dict[str, str], body: bytes, action: str
) -> None:
    form = {"content-type": "application/x-www-form-urlencoded", "host": "queue.test"}
    await world.http("POST", target, form | headers, body)
    assert [found.action for found in await entries(log)] == [action]


@pytest.mark.parametrize(
    ("action", "request_"),
    [
        ("AddPermission", PERMISSION),
        ("SetQueueAttributes", {"Attributes": {"Policy": POLICY}}),
    ],
)
async def test_a_change_of_who_may_is_written_and_on_disk_before_the_reply(
    world: World, log: Log, action: str, request_: dict[str, Any]
) -> None:
    queue = await make(world.client("json"), "orders")
    await queue.do(action, **request_)
    (found,) = [one.entry for one in kept(log)]
    assert (found.kind, found.action, found.result) == (Kind.CHANGE, action, "ok")
    assert found.resource.startswith(OF_ORDERS)
    assert POLICY not in found.resource


async def test_what_messages_do_is_in_the_journal_and_not_here(world: World, log: Log) -> None:
    queue = await make(world.client("json"), "orders")
    await queue.send("m")
    await queue.delete(await queue.take())
    await queue.set(DelaySeconds=5)
    await queue.do("PurgeQueue")
    assert await entries(log) == []


async def test_a_change_that_failed_is_written_as_failed(world: World, log: Log) -> None:
    queue = await make(world.client("json"), "orders")
    await queue.call("RemovePermission", Label="nobody")
    (found,) = await entries(log)
    assert (found.kind, found.result) == (Kind.CHANGE, "failed")
    assert (found.code, found.resource) == ("InvalidParameterValue", f"{OF_ORDERS},Label=nobody")


async def test_without_room_for_the_log_nothing_is_changed_and_all_else_goes_on(
    begin: Begin, clock: ManualClock
) -> None:
    disk = FullDisk()
    log = begin(disk=disk)
    world = await world_with(log, clock)
    queue = await make(world.client("json"), "orders")
    assert (await queue.call("AddPermission", **PERMISSION)).status == 503
    assert (await queue.call("AddPermission", **PERMISSION | {"Label": "second"})).status == 503
    assert world.site.trouble() == "The audit log's disk is full."
    await queue.send("m")
    disk.full = False
    await log.lasting()
    policy = json.loads((await queue.attributes("Policy"))["Policy"])
    assert [statement["Sid"] for statement in policy["Statement"]] == ["partner"]


async def test_who_looks_at_messages_is_written(world: World, log: Log) -> None:
    await make(world.client("json"), "orders")
    body = b'{"QueueUrl": "orders"}'
    headers = {"x-amz-target": "Penstock.PeekMessages", "content-type": "application/x-amz-json-1.0"}
    reply = await signed(world, headers, body)
    assert reply.status == 200
    (found,) = await entries(log)
    assert (found.kind, found.resource) == (Kind.READ, OF_ORDERS)
    assert (found.service, found.action) == ("penstock", "PeekMessages")


async def signed(world: World, headers: dict[str, str], body: bytes) -> Any:
    request = AWSRequest("POST", f"http://{HOST}/", {"Host": HOST} | headers, body)
    Signer(ROOT, KEYS[ROOT].secret, REGION, world.clock).add_auth(request)
    return await world.http("POST", "/", dict(request.headers.items()), body)


async def test_a_client_who_leaves_while_something_is_changed_leaves_a_line(world: World, log: Log) -> None:
    async def never(call: Call, request: Any) -> None:
        await asyncio.Future()

    call = Call(world.site, HttpRequest("POST", b"/", {}), "id", action="AddPermission")
    call.service = registry.load(registry.SERVICES["sqs"]).SERVICE
    task = asyncio.create_task(audited("sqs", "AddPermission", never)(call, None))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (found,) = await entries(log)
    assert (found.action, found.result) == ("AddPermission", "unknown")


class Key(msgspec.Struct):
    AccessKeyId: str
    SecretAccessKey: str


class Made(msgspec.Struct):
    AccessKey: Key


class Wanted(msgspec.Struct):
    UserName: str
    PolicyDocument: str
    DryRun: bool


async def test_what_is_named_and_made_is_written_and_what_is_secret_is_not(world: World, log: Log) -> None:
    async def run(call: Call, request: Any) -> Made:
        return Made(Key("AKIAMADE", SECRET))

    call = Call(world.site, HttpRequest("POST", b"/", {}), "id", action="AddPermission")
    call.service = registry.load(registry.SERVICES["sqs"]).SERVICE
    call.request = Wanted("anna", SECRET, True)
    await audited("sqs", "AddPermission", run)(call, call.request)
    (found,) = await entries(log)
    assert found.resource == "UserName=anna,DryRun=true,AccessKeyId=AKIAMADE"


def test_operations_on_messages_are_not_wrapped_at_all() -> None:
    operations = registry.load(registry.SERVICES["sqs"]).OPERATIONS
    for action in ("SendMessage", "ReceiveMessage", "DeleteMessage", "SendMessageBatch"):
        assert audited("sqs", action, operations[action]) is operations[action]


def test_every_operation_of_ours_is_written_but_for_counters() -> None:
    operations = registry.load(registry.SERVICES["penstock"]).OPERATIONS
    assert [name for name in operations if kind_of("penstock", name) is None] == ["GetQueueMetrics"]


@pytest.mark.parametrize(
    ("service", "action", "kind"),
    [
        ("iam", "CreateUser", Kind.CHANGE),
        ("iam", "UpdateAccessKey", Kind.CHANGE),
        ("iam", "SomethingNew", Kind.CHANGE),
        ("iam", "ListUsers", None),
        ("sts", "AssumeRole", Kind.CHANGE),
        ("sts", "GetSessionToken", Kind.CHANGE),
        ("sts", "GetCallerIdentity", None),
        ("sts", "DecodeAuthorizationMessage", None),
        ("penstock", "CreateAccount", Kind.ADMIN),
        ("penstock", "AdminPurgeQueue", Kind.ADMIN),
        ("penstock", "AdminPeekMessages", Kind.READ),
        ("penstock", "ReadJournal", Kind.READ),
        ("another", "PutThing", Kind.CHANGE),
    ],
)
def test_an_action_is_written_by_what_it_does(service: str, action: str, kind: Kind | None) -> None:
    assert kind_of(service, action) == kind
