"""What it costs to decide who may: signed SendMessage with authorisation and without, in one run, in this process.

    python bench/authorise.py              half a minute
    python bench/authorise.py --quick      a second: shows that it works, measures little

A server as `bench/path.py` runs it, without sockets and without waiting for the disk, is given messages of 256 bytes.
Senders are a user with a typical policy (three statements, one with a condition; a group with one more), one whose
policy asks for the time and for tags as well, and the account itself, whose queue has no policy. WITHOUT is the same
request of the same sender, whose queue is looked up and who is let through. Each figure is the least of the rounds,
which take turns. The ratio of WITHOUT to each is to be 0.9 or more.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import uvloop
from inside import QUEUE, Load, running

from penstock.api.authorise import Authorise, authorise
from penstock.api.call import Call
from penstock.app import Server
from penstock.bench.report import aligned
from penstock.bench.target import Target
from penstock.core.directory import AccessKey, Group, User

FLOOR = 0.9
USER = ("AKIAUSERUSERUSERUSER", "the secret of a user of the bench")
ASKED = ("AKIAASKEDASKEDASKEDA", "the secret of a user who is asked")
ROOT = (Target.access_key, Target.secret_key)
POLICY = """{"Version": "2012-10-17", "Statement": [
    {"Sid": "Look", "Effect": "Allow", "Action": ["sqs:ListQueues", "sqs:GetQueueUrl"], "Resource": "*"},
    {"Sid": "Work", "Effect": "Allow",
     "Action": ["sqs:SendMessage", "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
     "Resource": ["arn:aws:sqs:*:*:orders-*", "arn:aws:sqs:us-east-1:*:%s"]},
    {"Sid": "Here", "Effect": "Deny", "Action": "sqs:*", "Resource": "*",
     "Condition": {"NotIpAddress": {"aws:SourceIp": ["127.0.0.0/8", "10.0.0.0/8"]}}}]}"""
GROUP = """{"Version": "2012-10-17", "Statement": {
    "Effect": "Allow", "Action": "sqs:Get*", "Resource": "arn:aws:sqs:*:*:shared-*"}}"""


ASKING = """{"Version": "2012-10-17", "Statement": {"Sid": "Old", "Effect": "Deny", "Action": "*", "Resource": "*",
    "Condition": {"StringNotEquals": {"aws:PrincipalTag/team": "blue"}, "Null": {"aws:ResourceTag/team": "false"},
                  "DateGreaterThan": {"aws:CurrentTime": "2099-01-01T00:00:00Z"}}}}"""


async def let_through(call: Call) -> None:
    call.found = await call.site.store.find_queue(call.resource)  # type: ignore[arg-type]


CASES: dict[str, tuple[tuple[str, str], Authorise]] = {
    "a user, WITHOUT": (USER, let_through),
    "a user": (USER, authorise),
    "a user, asked more, WITHOUT": (ASKED, let_through),
    "a user, asked more": (ASKED, authorise),
    "the account, WITHOUT": (ROOT, let_through),
    "the account": (ROOT, authorise),
}


async def add_user(server: Server) -> None:
    account, identities = server.settings.root_account, server.identities
    async with identities.changing():
        await identities.save(Group(account=account, name="all", id="AGPAALL", inline={"p": GROUP}))
        for name, (key, secret), more in (("ann", USER, {}), ("bob", ASKED, {"q": ASKING})):
            inline, tags = {"p": POLICY % QUEUE} | more, {"team": "blue", "cost": "42"}
            await identities.save(
                User(account=account, name=name, id=f"AIDA{name}", inline=inline, groups=("all",), tags=tags),
                AccessKey(account=account, name=key, user=name, secret=identities.sealed(key, secret)),
            )


async def microseconds(folder: Path, clients: int, sends: int, case: str) -> float:
    """Of processor for a message, without the clients' share."""
    key, decides = CASES[case]
    async with running(folder, os.environ, "OFF") as server:
        await add_user(server)
        server.pages._api._authorise = decides
        load, started = Load(server, clients, sends, only_send=True, key=key), time.thread_time()
        await load.run()
        taken = time.thread_time() - started - load.seconds
    return taken / sends * 1e6


def main(argv: Sequence[str] | None = None) -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="bench/authorise.py", description=__doc__, formatter_class=form)
    parser.add_argument("--quick", action="store_true", help="a tiny size, to see that it works")
    quick = parser.parse_args(argv).quick
    rounds, clients, sends = (1, 8, 200) if quick else (7, 64, 8000)
    least = dict.fromkeys(CASES, float("inf"))
    with tempfile.TemporaryDirectory(prefix="penstock-authorise-") as folder:
        for number in range(rounds):
            for case in CASES:
                where = Path(folder) / f"{number}-{case}"
                least[case] = min(least[case], uvloop.run(microseconds(where, clients, sends, case)))
    ratios = {case: least[f"{case}, WITHOUT"] / least[case] for case in CASES if "WITHOUT" not in case}
    cells = [(case, f"{least[case]:.1f}", f"{ratios[case]:.3f}" if case in ratios else "") for case in CASES]
    print("\n".join(aligned(("SENDER", "µs of processor a message", "RATIO"), cells)))
    below = [case for case, ratio in ratios.items() if ratio < FLOOR]
    if below and not quick:
        print(f"Below {FLOOR}: {', '.join(below)}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
