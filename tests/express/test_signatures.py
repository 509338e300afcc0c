"""Who is let in through the express way: exactly those who are let in elsewhere, and not a request longer."""

import asyncio
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from urllib.parse import urlencode

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from penstock.api.access import FAILURES_PER_SECOND_WITH_A_KEY

from .conftest import Start
from .lane import USUAL, Json, Line, Signing, Site, Who, padded, told

SKEW = 15 * 60
DAY = 24 * 3600
FORGED = "InvalidSignatureException"


def altered(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    def spoil(request: bytes) -> bytes:
        assert old in request
        return request.replace(old, new, 1)

    return spoil


def last_digit(request: bytes) -> bytes:
    head, _, body = request.partition(b"\r\n\r\n")
    return head[:-1] + (b"0" if head[-1:] != b"0" else b"1") + b"\r\n\r\n" + body


def in_capitals(request: bytes) -> bytes:
    head, _, body = request.partition(b"\r\n\r\n")
    return head[:-64] + head[-64:].upper() + b"\r\n\r\n" + body


def shifted(seconds: float) -> Callable[[], Signing]:
    return lambda: Signing(at=time.time() + seconds)


SPOILT: dict[str, tuple[Callable[[], Signing], str]] = {
    "another signature": (lambda: Signing(spoil=last_digit), FORGED),
    "a signature in capitals": (lambda: Signing(spoil=in_capitals), ""),
    "another body": (lambda: Signing(spoil=altered(b'"m"', b'"n"')), FORGED),
    "a blank more in the body": (lambda: Signing(spoil=altered(b'"m"} ', b'"m" }')), FORGED),
    "another target": (lambda: Signing(spoil=altered(b".SendMessage", b".PurgeQueues")), ""),
    "another host": (lambda: Signing(spoil=altered(b"host: 127.0.0.1", b"host: 127.0.0.2")), FORGED),
    "another date": (lambda: Signing(at=time.time() - 60, spoil=minute_later), FORGED),
    "nearly too late": (shifted(-SKEW + 3), ""),
    "too late": (shifted(-SKEW - 3), FORGED),
    "nearly too early": (shifted(SKEW - 3), ""),
    "too early": (shifted(SKEW + 3), FORGED),
    "of yesterday": (shifted(-DAY), FORGED),
    "another day's scope": (lambda: Signing(day="20200101"), FORGED),
    "a date that is none": (lambda: Signing(spoil=altered(b"x-amz-date: 2", b"x-amz-date: x")), ""),
    "another key": (lambda: Signing(spoil=altered(b"Credential=PENSTOCK_TEST", b"Credential=PENSTOCK_REST")), ""),
}


def minute_later(request: bytes) -> bytes:
    head, mark, rest = request.partition(b"x-amz-date: ")
    second = rest[13:15]
    other = b"%02d" % ((int(second) + 1) % 60)
    return head + mark + rest[:13] + other + rest[15:]


async def refused_alike(site: Site, body: Json, how: Signing) -> str:
    """The error on a lent connection, which is the same on a new one."""
    line, fresh = await site.lent_line("SendMessage"), await site.line()
    before, sent = site.answered, body["QueueUrl"].rpartition("/")[2]
    stored = len(await site.peek(sent))
    replies = [await each.ask("SendMessage", body, how) for each in (line, fresh)]
    assert told(replies[0]) == told(replies[1])
    if replies[0].status != 200:
        assert site.answered == before
        assert len(await site.peek(sent)) == stored
    await line.warm("SendMessage")
    return replies[0].error


@pytest.mark.parametrize("name", SPOILT)
async def test_a_request_that_is_not_as_it_was_signed_is_refused_alike(start: Start, name: str) -> None:
    site = await start()
    url = await site.create("orders")
    how, error = SPOILT[name]
    found = await refused_alike(site, {"QueueUrl": url, "MessageBody": "m"}, how())
    if error or name.startswith("nearly"):
        assert found == error
    else:
        assert found


async def test_a_date_at_either_end_of_what_is_taken_is_taken_by_native_code(start: Start) -> None:
    site = await start()
    url = await site.create("orders")
    for shift in (-SKEW + 3, SKEW - 3):
        line = await site.lent_line("SendMessage")
        at = time.time() + shift
        same_day = time.gmtime(at).tm_yday == time.gmtime().tm_yday
        assert await line.by_lane("SendMessage", {"QueueUrl": url, "MessageBody": "m"}, how=Signing(at=at)) == same_day


@pytest.mark.parametrize("declared", ["right", "wrong"])
async def test_a_hash_of_the_body_that_is_declared_has_to_be_right(start: Start, declared: str) -> None:
    site = await start()
    url, line, fresh = await site.create("orders"), await site.line(), await site.line()

    def how(body: Json, wrong: bool = False) -> Signing:
        digest = sha256(padded(json.dumps(body).encode()) + b"x" * wrong).hexdigest()
        return Signing(headers=[("x-amz-content-sha256", digest)])

    body: Json = {"QueueUrl": url, "MessageBody": "m"}
    for _ in range(6):
        assert (await line.ask("SendMessage", body, how(body))).status == 200
    assert site.answered > 0
    replies = [await each.ask("SendMessage", body, how(body, declared == "wrong")) for each in (line, fresh)]
    assert told(replies[0]) == told(replies[1])
    assert replies[0].status == (200 if declared == "right" else 403)


async def test_failures_on_a_lent_connection_count_as_they_do_elsewhere(start: Start) -> None:
    site = await start()
    url, line = await site.create("orders"), await site.lent_line("SendMessage")
    body: Json = {"QueueUrl": url, "MessageBody": "m"}
    wrong = Signing(spoil=last_digit)
    errors = [(await line.ask("SendMessage", body, wrong)).error for _ in range(FAILURES_PER_SECOND_WITH_A_KEY + 2)]
    assert errors[0] == FORGED
    assert errors[-1] == "RequestThrottled"
    assert await site.peek("orders") == []


async def test_who_failed_too_often_elsewhere_is_throttled_on_a_lent_connection(start: Start) -> None:
    site = await start()
    url, line, other = await site.create("orders"), await site.lent_line("SendMessage"), await site.line()
    body: Json = {"QueueUrl": url, "MessageBody": "m"}
    for _ in range(FAILURES_PER_SECOND_WITH_A_KEY + 1):
        await other.ask("SendMessage", body, Signing(spoil=last_digit))
    assert (await line.ask("SendMessage", body)).error == "RequestThrottled"


async def iam(site: Site, line: Line, action: str, **parameters: str) -> str:
    """A request in the Query protocol; the body of its reply."""
    body = urlencode({"Action": action, "Version": "2010-05-08", **parameters}).encode()
    await line.write(for_iam(site, line.who, body))
    reply = await line.reply()
    assert reply.status == 200, reply.body
    return reply.body.decode()


def for_iam(site: Site, who: Who, body: bytes) -> bytes:
    headers = {"Host": site.host, "Content-Type": "application/x-www-form-urlencoded"}
    request = AWSRequest("POST", f"http://{site.host}/", headers, body)
    SigV4Auth(Credentials(who.key, who.secret), "iam", "us-east-1").add_auth(request)
    lines = [f"{name}: {value}" for name, value in request.headers.items()]
    return "\r\n".join(["POST / HTTP/1.1", *lines, f"Content-Length: {len(body)}"]).encode() + b"\r\n\r\n" + body


POLICY = json.dumps({"Statement": {"Effect": "Allow", "Action": "sqs:*", "Resource": "*"}})


async def a_user(site: Site, root: Line) -> Who:
    """Who may do everything with queues."""
    await iam(site, root, "CreateUser", UserName="ann")
    await iam(site, root, "PutUserPolicy", UserName="ann", PolicyName="all", PolicyDocument=POLICY)
    made = await iam(site, root, "CreateAccessKey", UserName="ann")
    key, secret = (made.partition(f"<{tag}>")[2].partition("<")[0] for tag in ("AccessKeyId", "SecretAccessKey"))
    return Who(key, secret)


@pytest.mark.parametrize(
    ("action", "parameters", "error"),
    [
        ("DeleteAccessKey", {}, "UnrecognizedClientException"),
        ("UpdateAccessKey", {"Status": "Inactive"}, "UnrecognizedClientException"),
        ("DeleteUserPolicy", {"PolicyName": "all"}, "AccessDeniedException"),
    ],
)
async def test_what_is_taken_from_a_user_is_taken_from_the_very_next_request(
    start: Start, action: str, parameters: dict[str, str], error: str
) -> None:
    site = await start()
    url, root = await site.create("orders"), await site.line()
    ann = await a_user(site, root)
    line, fresh = await site.lent_line("SendMessage", who=ann), await site.line(ann)
    body: Json = {"QueueUrl": url, "MessageBody": "m"}
    assert await line.at_once("SendMessage", body)
    which = parameters if "Policy" in action else {"AccessKeyId": ann.key, **parameters}
    await iam(site, root, action, UserName="ann", **which)
    replies = [await each.ask("SendMessage", body) for each in (line, fresh)]
    assert replies[0].error == replies[1].error == error
    assert told(replies[0]) == told(replies[1])
    assert len(await site.peek("orders")) == 2


async def test_a_policy_of_the_queue_that_denies_is_heard_by_the_very_next_request(start: Start) -> None:
    site = await start()
    url, line, root = await site.create("orders"), await site.lent_line("SendMessage"), await site.line()
    ann = await a_user(site, await site.line())
    line = await site.lent_line("SendMessage", who=ann)
    body: Json = {"QueueUrl": url, "MessageBody": "m"}
    assert await line.at_once("SendMessage", body)
    deny = {"Statement": {"Effect": "Deny", "Principal": "*", "Action": "sqs:SendMessage", "Resource": "*"}}
    given = {"QueueUrl": url, "Attributes": {"Policy": json.dumps(deny)}}
    assert (await root.ask("SetQueueAttributes", given)).status == 200
    assert (await line.ask("SendMessage", body)).error == "AccessDeniedException"


async def test_a_policy_that_asks_for_the_time_is_asked_each_time(start: Start) -> None:
    site = await start()
    url, root = await site.create("orders"), await site.line()
    ann = await a_user(site, await site.line())
    line = await site.lent_line("SendMessage", who=ann)
    body: Json = {"QueueUrl": url, "MessageBody": "m"}
    until = datetime.now(UTC) + timedelta(seconds=2)
    deny = {
        "Effect": "Deny", "Principal": "*", "Action": "sqs:SendMessage", "Resource": "*",
        "Condition": {"DateGreaterThan": {"aws:CurrentTime": until.strftime("%Y-%m-%dT%H:%M:%SZ")}},
    }  # fmt: skip
    given = {"QueueUrl": url, "Attributes": {"Policy": json.dumps({"Statement": deny})}}
    assert (await root.ask("SetQueueAttributes", given)).status == 200
    assert await line.by_lane("SendMessage", body)
    assert not await line.at_once("SendMessage", body)
    async with asyncio.timeout(20):
        while (await line.ask("SendMessage", body)).status == 200:
            assert datetime.now(UTC) < until + timedelta(seconds=2)
    assert (await line.ask("SendMessage", body)).error == "AccessDeniedException"


async def test_two_users_on_two_connections_are_told_apart(start: Start) -> None:
    site = await start()
    url = await site.create("orders")
    ann = await a_user(site, await site.line())
    lines = [await site.lent_line("SendMessage"), await site.lent_line("SendMessage", who=ann)]
    for line in lines:
        await line.write(line.request("SendMessage", {"QueueUrl": url, "MessageBody": line.who.key}))
    for line in lines:
        assert (await line.reply()).status == 200
    senders = {body: sender for body, _, _, _, _, sender, _ in await site.peek("orders")}
    assert len(set(senders.values())) == 2
    assert senders[lines[0].who.key] == "000000000000"


async def test_a_request_signed_for_one_connection_is_as_good_on_another(start: Start) -> None:
    """There is no nonce in a signature: whoever was known by one is known by all of them."""
    site = await start()
    url = await site.create("orders")
    lines = [await site.lent_line("SendMessage") for _ in range(2)]
    request = lines[0].request("SendMessage", {"QueueUrl": url, "MessageBody": "m"}, USUAL)
    for line in lines:
        await line.write(request)
        assert (await line.reply()).status == 200
    assert len(await site.peek("orders")) == 2
