"""What time tells a stranger about keys, and what temporary keys cost: microseconds to authenticate a request, by kind.

    python bench/keys.py                20,000 requests of each kind, in turn: some ten seconds
    python bench/keys.py --quick        a second: shows that it works, measures little

Kinds take turns, so that whatever else the machine does falls on all of them alike. A key that nobody has should take
no less time than a wrong signature, within the noise: `spread` is between the quartiles.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import quantiles

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from msgspec.structs import replace

from penstock.api.access import Access
from penstock.api.identities import Identities, Key
from penstock.aws.http import HttpRequest
from penstock.aws.signature import Verifier
from penstock.bench.report import aligned
from penstock.core.directory import AccessKey, User
from penstock.core.errors import ServiceError
from penstock.core.identity import Kind, root_of
from penstock.core.pace import Pace
from penstock.core.session import Ticket
from penstock.core.vault import KEY_BYTES, Vault
from penstock.stores.memory import MemoryStore

ACCOUNT, ROOT, SECRET = "111122223333", "AKIA0000000000000000", "a secret of the bench"
HOUR_MS = 3_600_000
OUTCOMES = {
    "right, permanent key": "",
    "right, temporary key": "",
    "wrong secret": "SignatureDoesNotMatch",
    "wrong secret, temporary key": "SignatureDoesNotMatch",
    "nobody's key": "InvalidClientTokenId",
    "inactive key": "InvalidClientTokenId",
    "forged token": "InvalidClientTokenId",
    "no token": "InvalidClientTokenId",
}


@dataclass(frozen=True)
class Figures:
    median: float
    spread: float


async def prepared(now: int) -> tuple[Access, dict[str, HttpRequest]]:
    store = MemoryStore()
    await store.open()
    identities = Identities(store, Vault([b"m" * KEY_BYTES]), {ROOT: Key(SECRET, root_of(ACCOUNT))})
    off = "AKIA0000000000000001"
    async with identities.changing():
        await identities.save(
            User(account=ACCOUNT, name="anna", id="AIDAANNA"),
            AccessKey(account=ACCOUNT, name=off, user="anna", secret=identities.sealed(off, SECRET), active=False),
        )
    made = identities.issue(Ticket(ACCOUNT, Kind.USER, "anna", "AIDAANNA", now, now + HOUR_MS))
    forged = made.token[:-8] + "AAAAAAA="
    access = Access(
        identities, Verifier(frozenset({"sqs"}), None), "us-east-1", ACCOUNT,
        _failures=Pace(0), _failures_with_keys=Pace(0),
    )  # fmt: skip
    return access, {
        "right, permanent key": signed(ROOT, SECRET),
        "right, temporary key": signed(made.access_key, made.secret, made.token),
        "wrong secret": signed(ROOT, "another"),
        "wrong secret, temporary key": signed(made.access_key, "another", made.token),
        "nobody's key": signed("AKIA0000000000000002", SECRET),
        "inactive key": signed(off, SECRET),
        "forged token": signed(made.access_key, made.secret, forged),
        "no token": signed(made.access_key, made.secret),
    }


def signed(key: str, secret: str, token: str | None = None) -> HttpRequest:
    headers = {"Host": "queue.test", "X-Amz-Target": "AmazonSQS.SendMessage"}
    request = AWSRequest("POST", "http://queue.test/", headers, b"x" * 256)
    SigV4Auth(Credentials(key, secret, token), "sqs", "us-east-1").add_auth(request)
    given = {name.lower().encode(): str(value).encode() for name, value in request.headers.items()}
    return HttpRequest("POST", b"/", given, b"x" * 256, "192.0.2.1")


def measured(access: Access, requests: Mapping[str, HttpRequest], rounds: int, now: int) -> dict[str, Figures]:
    taken: dict[str, list[int]] = {kind: [] for kind in requests}
    for _ in range(rounds):
        for kind, request in requests.items():
            copy = replace(request)
            begun = time.perf_counter_ns()
            try:
                access.authenticate(copy, now)
                outcome = ""
            except ServiceError as error:
                outcome = error.shape
            taken[kind].append(time.perf_counter_ns() - begun)
            assert outcome == OUTCOMES[kind], (kind, outcome)
    return {kind: figures(times) for kind, times in taken.items()}


def figures(times: list[int]) -> Figures:
    low, middle, high = quantiles(times, n=4)
    return Figures(middle / 1000, (high - low) / 1000)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    rounds = 200 if parser.parse_args().quick else 20_000
    now = int(time.time() * 1000)
    access, requests = asyncio.run(prepared(now))
    found = measured(access, requests, rounds, now)
    rows = [(kind, f"{each.median:.2f}", f"{each.spread:.2f}") for kind, each in found.items()]
    sys.stdout.write("\n".join(aligned(("CASE", "MEDIAN µs", "SPREAD µs"), rows)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
