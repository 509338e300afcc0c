"""A server in this process, called with permanent and temporary keys: requests are signed by botocore at its clock."""

import time
from typing import Any, NamedTuple
from urllib.parse import urlencode
from xml.etree import ElementTree

from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from penstock.aws.http import HttpRequest
from penstock.core.directory import AccessKey, Entity
from penstock.core.session import Credentials as Temporary
from sqs.harness import HOST, REGION, World
from sqs.harness import ROOT as ROOT_KEY

ADDRESS = "192.0.2.1"
VERSIONS = {"sqs": "2012-11-05", "sts": "2011-06-15", "iam": "2010-05-08"}


class Who(NamedTuple):
    key: str
    secret: str
    token: str | None = None


ROOT = Who(ROOT_KEY, "root's secret")


class Reply(NamedTuple):
    """`result` is what stands in the reply, by the names of its elements; of an error there is `code` and `message`."""

    status: int
    result: dict[str, Any]
    code: str = ""
    message: str = ""


def temporary(made: Temporary | dict[str, str]) -> Who:
    if isinstance(made, dict):
        return Who(made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"])
    return Who(made.access_key, made.secret, made.token)


class At:
    """Signs as botocore does, at a time of our choosing."""

    def __init__(self, seconds: int) -> None:
        self._at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(seconds))

    def sign(self, request: AWSRequest, who: Who, service: str, region: str, query: bool = False) -> None:
        credentials = Credentials(who.key, who.secret, who.token)
        auth = (SigV4QueryAuth if query else SigV4Auth)(credentials, service, region)
        request.context["timestamp"] = self._at
        auth._modify_request_before_signing(request)
        text = auth.string_to_sign(request, auth.canonical_request(request))
        auth._inject_signature_to_request(request, auth.signature(text, request))


def signed(
    world: World, who: Who, service: str, action: str, region: str = REGION, query: bool = False, **params: Any
) -> HttpRequest:
    """A request of the Query protocol, as it comes out of the listener."""
    form = {"Action": action, "Version": VERSIONS[service], **params}
    method, body = ("GET", "") if query else ("POST", urlencode(form))
    headers = {"Host": HOST} | ({} if query else {"Content-Type": "application/x-www-form-urlencoded"})
    request = AWSRequest(method, f"http://{HOST}/", headers, body, params=form if query else {})
    At(world.clock.now() // 1000).sign(request, who, service, region, query)
    target = str(request.url).removeprefix(f"http://{HOST}") if query else "/"
    given = {name.lower().encode(): str(value).encode("latin-1") for name, value in request.headers.items()}
    return HttpRequest(method, target.encode(), given, body.encode(), ADDRESS)


async def answered(world: World, request: HttpRequest) -> Reply:
    reply = await world.gateway.answer(request)
    root = ElementTree.fromstring(reply.body)
    if reply.status == 200:
        return Reply(200, _read(root[0]) or {})
    error = _read(root)["Error"]
    return Reply(reply.status, {}, error["Code"], error["Message"])


async def ask(world: World, who: Who, action: str, service: str = "sts", region: str = REGION, **params: Any) -> Reply:
    return await answered(world, signed(world, who, service, action, region, **params))


async def got(world: World, who: Who, action: str, service: str = "sts", **params: Any) -> dict[str, Any]:
    reply = await ask(world, who, action, service, **params)
    assert reply.status == 200, f"{reply.code}: {reply.message}"
    return reply.result


async def caller(world: World, who: Who) -> str:
    """The ARN that the server knows the caller by."""
    arn: str = (await got(world, who, "GetCallerIdentity"))["Arn"]
    return arn


async def save(world: World, *entities: Entity, removed: tuple[Entity, ...] = ()) -> None:
    async with world.identities.changing():
        await world.identities.save(*entities, removed=removed)


async def give_key(world: World, account: str, user: str, key: str = "AKIA0000000000000001") -> Who:
    """A permanent key of a user, or of the account itself if `user` is empty."""
    secret = f"secret of {key}"
    await save(world, AccessKey(account=account, name=key, user=user, secret=world.identities.sealed(key, secret)))
    return Who(key, secret)


def _read(element: ElementTree.Element) -> Any:
    children = list(element)
    return {child.tag.rpartition("}")[2]: _read(child) for child in children} if children else element.text or ""
