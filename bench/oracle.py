"""What time tells about queues that one may not use: microseconds to refuse a SendMessage, by caller and queue.

    python bench/oracle.py              2,000 requests of each kind, in turn: a minute and a half
    python bench/oracle.py --quick      seconds: shows that it works, measures little

A whole request is timed, from its bytes to the refusal's, in this process and without sockets: WORK is what it takes,
ANSWER when it is answered, which is held back to a fixed time. Kinds take turns, in another order each round, so that
whatever else the machine does falls on all of them alike. DIFFERENCE is between a queue and a missing one, for the same
caller; NOISE is what the medians of a missing queue differ by when they are taken from every second request. A
difference of answers within the noise tells a stranger nothing.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from collections.abc import Sequence
from itertools import product
from statistics import median

import uvloop
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from penstock import registry
from penstock.api.access import Access
from penstock.api.authorise import authorise
from penstock.api.call import Call, Site
from penstock.api.gateway import Gateway
from penstock.api.identities import Identities, Key
from penstock.api.waiting import WaitingRoom
from penstock.aws.http import HttpRequest
from penstock.aws.signature import Verifier
from penstock.bench.report import aligned
from penstock.core.clock import AnchoredClock
from penstock.core.directory import AccessKey, User
from penstock.core.identity import root_of
from penstock.core.keyring import Keyring
from penstock.core.queue import QueueKey
from penstock.core.vault import KEY_BYTES, Vault
from penstock.stores.memory import MemoryStore

OWNER, OTHER, THIRD, REGION = "111122223333", "444455556666", "777788889999", "us-east-1"
STRANGER, GUEST, CLERK, NOBODY = "AKIA000000STRANGER00", "AKIA00000000GUEST000", "AKIA00000000CLERK000", ""
SECRET = "a secret of the bench"
CALLERS = {
    "another account": STRANGER,
    "its user, who may everything there": GUEST,
    "without a signature": NOBODY,
    "a user of the same account": CLERK,
}
"""None of them may send to any of the queues."""
MISSING = "missing"
EVERYTHING = '{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}'


def statement(number: int, principal: object, **more: object) -> dict[str, object]:
    actions = ["sqs:SendMessage", "sqs:ReceiveMessage", "sqs:DeleteMessage"]
    resource = f"arn:aws:sqs:{REGION}:{OWNER}:*"
    named = {"Sid": f"s{number}", "Effect": "Allow", "Principal": principal, "Action": actions, "Resource": resource}
    return named | more


def policy(statements: int, principal: object, **more: object) -> str:
    several = [statement(number, principal, **more) for number in range(statements)]
    return json.dumps({"Version": "2012-10-17", "Statement": several})


ELSEWHERE = {"Condition": {"IpAddress": {"aws:SourceIp": [f"10.0.{n}.0/24" for n in range(20)]}}}
QUEUES = {
    MISSING: None,
    "no policy": "",
    "short policy": policy(1, {"AWS": THIRD}),
    "long policy": policy(20, {"AWS": [f"arn:aws:iam::{THIRD}:user/u{n}" for n in range(2)]}),
    "open to other addresses": policy(1, "*", **ELSEWHERE),
    "long, open to other addresses": policy(20, "*", **ELSEWHERE),
}
"""What is there → the queue's policy."""


async def prepared(take_ms: int) -> Gateway:
    store, vault = MemoryStore(), Vault([b"m" * KEY_BYTES])
    await store.open()
    identities = Identities(store, vault, {STRANGER: Key(SECRET, root_of(OTHER))})
    users = ((GUEST, OTHER, {"all": EVERYTHING}), (CLERK, OWNER, {}))
    async with identities.changing():
        for key, account, inline in users:
            await identities.save(
                User(account=account, name="user", id="AIDAUSER", inline=inline),
                AccessKey(account=account, name=key, user="user", secret=identities.sealed(key, SECRET)),
            )
    for name, document in QUEUES.items():
        if document is not None:
            attributes = {"Policy": document} if document else {}
            await store.create_queue(QueueKey(REGION, OWNER, named(name)), attributes, {}, 1)
    services = {name: registry.load(where) for name, where in registry.SERVICES.items()}
    keyring = Keyring(vault, [], [])
    site = Site(store, AnchoredClock(), WaitingRoom(), b"k" * 32, identities, keyring, refusals_take_ms=take_ms)
    access = Access(identities, Verifier(frozenset({"sqs"}), None), REGION, OWNER)
    return Gateway(site, access, authorise, services, forget)


def forget(call: Call, seconds: float) -> None:
    """Nothing is written down: what is written of a refusal does not depend on the queue."""


def named(queue: str) -> str:
    """All names have the same length."""
    return f"queue-{list(QUEUES).index(queue)}"


def asked(key: str, queue: str) -> HttpRequest:
    body = json.dumps({"QueueUrl": f"http://queue.test/{OWNER}/{named(queue)}", "MessageBody": "m"}).encode()
    headers = {"Host": "queue.test", "X-Amz-Target": "AmazonSQS.SendMessage"}
    headers["Content-Type"] = "application/x-amz-json-1.0"
    request = AWSRequest("POST", "http://queue.test/", headers, body)
    if key:
        SigV4Auth(Credentials(key, SECRET), "sqs", REGION).add_auth(request)
    given = {name.lower().encode(): str(value).encode() for name, value in request.headers.items()}
    return HttpRequest("POST", b"/", given, body, "192.0.2.1")


Times = dict[tuple[str, str], list[float]]


async def measured(rounds: int, take_ms: int) -> Times:
    gateway, turns = await prepared(take_ms), random.Random(1)
    kinds = list(product(CALLERS, QUEUES))
    taken: Times = {kind: [] for kind in kinds}
    for _ in range(rounds):
        turns.shuffle(kinds)
        for caller, queue in kinds:
            request = asked(CALLERS[caller], queue)
            await asyncio.sleep(0)
            begun = time.perf_counter_ns()
            response = await gateway.answer(request)
            taken[caller, queue].append((time.perf_counter_ns() - begun) / 1000)
            assert b"AccessDenied" in bytes(response.body), (caller, queue, response.body)
    return taken


def figures(taken: Times, kind: tuple[str, str]) -> tuple[str, str, str]:
    missing, own = taken[kind[0], MISSING], median(taken[kind])
    noise = abs(median(missing[::2]) - median(missing[1::2]))
    return f"{own:.1f}", f"{own - median(missing):+.1f}", f"{noise:.1f}"


def main(argv: Sequence[str] | None = None) -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="bench/oracle.py", description=__doc__, formatter_class=form)
    parser.add_argument("--quick", action="store_true", help="a tiny size, to see that it works")
    quick = parser.parse_args(argv).quick
    works = uvloop.run(measured(20 if quick else 2000, 0))
    answers = uvloop.run(measured(2 if quick else 400, Site.refusals_take_ms))
    rows = [(*kind, *figures(works, kind), *figures(answers, kind)) for kind in works]
    heads = ("CALLER", "QUEUE", "WORK µs", "DIFFERENCE", "NOISE", "ANSWER µs", "DIFFERENCE", "NOISE")
    print("\n".join(aligned(heads, rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
