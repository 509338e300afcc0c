"""What the tests of signatures are written in: Amazon's vectors, requests signed by botocore or by hand, a verifier."""

import hmac
import json
import time
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSPreparedRequest, AWSRequest
from botocore.credentials import Credentials
from msgspec.structs import replace

from penstock.aws.http import HttpRequest
from penstock.aws.signature import Verifier, read
from penstock.core.errors import ServiceError

DATA = json.loads(Path(__file__).with_name("signature_vectors.json").read_text(encoding="utf-8"))
KEY, SECRET = DATA["access_key"], DATA["secret"]
SECRETS = {KEY: SECRET, "ASIA" + KEY: SECRET}
VERIFIER = Verifier(frozenset({"service", "host"}), frozenset({"us-east-1"}))
SQS = Verifier(frozenset({"sqs"}), frozenset({"eu-central-1"}))
AT_2015, AT_2011 = 1440938160_000, 1315611360_000  # the moments at which the vectors were signed
MINUTE = 60_000
EMPTY_HASH = sha256(b"").hexdigest()
HOST = "sqs.example:9324"


def request_of(vector: dict) -> HttpRequest:
    method, _, target = vector["request"].partition(" ")
    headers: dict[bytes, bytes] = {}
    for line in vector["headers"]:
        name, _, value = line.encode().partition(b":")
        name, value = name.lower(), value.strip()
        headers[name] = headers[name] + b"," + value if name in headers else value
    if "authorization" in vector:
        headers[b"authorization"] = vector["authorization"].encode()
    return HttpRequest(method, target.encode(), headers, vector.get("body", "").encode())


def check(request: HttpRequest, now: int, verifier: Verifier = VERIFIER) -> None:
    signature = read(request)
    if signature is None:
        raise ServiceError("MissingAuthenticationToken", "as the pipeline says it")
    verifier.verify(signature, request, SECRETS.get(signature.access_key), now)


def refusal(request: HttpRequest, now: int, verifier: Verifier = VERIFIER) -> ServiceError:
    with pytest.raises(ServiceError) as refused:
        check(request, now, verifier)
    return refused.value


def moment_of(vector: dict) -> int:
    return AT_2011 if vector["name"].startswith("2011") else AT_2015


def reference_signature(canonical: str, timestamp: str, scope: str) -> str:
    key = ("AWS4" + SECRET).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), "sha256").digest()
    to_sign = "\n".join(["AWS4-HMAC-SHA256", timestamp, scope, sha256(canonical.encode()).hexdigest()])
    return hmac.new(key, to_sign.encode(), "sha256").hexdigest()


VECTORS = {vector["name"]: vector for vector in DATA["vectors"]}
ACCEPTED = [name for name, vector in VECTORS.items() if "refusal" not in vector]
REFUSED = [name for name, vector in VECTORS.items() if "refusal" in vector]
VANILLA = request_of(VECTORS["get-vanilla"])
PRESIGNED = request_of(VECTORS["presigned-get-vanilla"])


def replaced(request: HttpRequest, old: bytes, new: bytes) -> HttpRequest:
    """`request` with `old` put as `new` where its signature is written: the Authorization header, or the target."""
    if b"authorization" not in request.headers:
        assert old in request.target
        return replace(request, target=request.target.replace(old, new, 1))
    authorization = request.headers[b"authorization"]
    assert old in authorization
    return with_header(request, b"authorization", authorization.replace(old, new, 1))


def with_header(request: HttpRequest, name: bytes, value: bytes) -> HttpRequest:
    return replace(request, headers={**request.headers, name: value})


def without_header(request: HttpRequest, name: bytes) -> HttpRequest:
    return replace(request, headers={other: value for other, value in request.headers.items() if other != name})


def sent(prepared: AWSPreparedRequest) -> HttpRequest:
    """What an HTTP client makes of a signed request."""
    url = urlsplit(prepared.url)
    headers = {
        name.lower().encode(): (value if isinstance(value, bytes) else value.encode())
        for name, value in prepared.headers.items()
    }
    headers[b"host"] = url.netloc.encode()
    headers[b"user-agent"] = b"Botocore"
    target = url.path + ("?" + url.query if url.query else "")
    return HttpRequest(prepared.method, target.encode(), headers, prepared.body or b"")


def signed(method="POST", path="/", headers=None, body=b"", key=KEY, token=None) -> HttpRequest:
    request = AWSRequest(method, f"http://{HOST}{path}", headers=headers or {}, data=body)
    SigV4Auth(Credentials(key, SECRET, token), "sqs", "eu-central-1").add_auth(request)
    return sent(request.prepare())


def presigned(path="/", expires=3600, key=KEY, token=None) -> HttpRequest:
    request = AWSRequest("GET", f"http://{HOST}{path}")
    SigV4QueryAuth(Credentials(key, SECRET, token), "sqs", "eu-central-1", expires).add_auth(request)
    return sent(request.prepare())


def now() -> int:
    return int(time.time() * 1000)


def signed_by_hand(request: HttpRequest, signed_headers: str, payload_hash: str = EMPTY_HASH) -> HttpRequest:
    """`request`, signed on 30 August 2015 over the headers that are named, its target taken as it is written."""
    path, _, query = request.target.decode().partition("?")
    names = signed_headers.split(";")
    values = [f"{name.lower()}:{request.headers[name.lower().encode()].decode()}" for name in names]
    canonical = "\n".join([request.method, path, query, *values, "", signed_headers, payload_hash])
    digits = reference_signature(canonical, "20150830T123600Z", "20150830/us-east-1/service/aws4_request")
    credential = f"{KEY}/20150830/us-east-1/service/aws4_request"
    authorization = f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={signed_headers}, Signature={digits}"
    return with_header(request, b"authorization", authorization.encode())


PLAIN = HttpRequest("GET", b"/", {b"host": b"example.amazonaws.com", b"x-amz-date": b"20150830T123600Z"})
