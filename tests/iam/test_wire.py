"""Replies byte by byte: what other SDKs than Python's read."""

import re
import urllib.error
import urllib.request
from urllib.parse import quote, unquote, urlencode

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from server_process import Server

from .conftest import Fresh
from .saying import ACCOUNT, SENDING

HEAD = '<?xml version="1.0"?>'
NAMESPACE = "https://iam.amazonaws.com/doc/2010-05-08/"


def post(server: Server, **parameters: str) -> tuple[int, str]:
    body = urlencode({"Version": "2010-05-08"} | parameters).encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
    request = AWSRequest("POST", f"{server.url}/", headers, body)
    SigV4Auth(Credentials(server.access_key, server.secret_key), "iam", "us-east-1").add_auth(request)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(request.url, body, dict(request.headers.items()))) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.read().decode()


def test_a_user_in_xml(server: Server, fresh: Fresh) -> None:
    name = fresh("wired")
    status, body = post(
        server, Action="CreateUser", UserName=name, **{"Tags.member.1.Key": "a", "Tags.member.1.Value": "é = 1"}
    )
    made = re.fullmatch(
        re.escape(f'{HEAD}<CreateUserResponse xmlns="{NAMESPACE}"><CreateUserResult><User><Path>/</Path>')
        + re.escape(f"<UserName>{name}</UserName>")
        + r"<UserId>AIDA\w{17}</UserId>"
        + re.escape(f"<Arn>arn:aws:iam::{ACCOUNT}:user/{name}</Arn>")
        + r"<CreateDate>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ</CreateDate>"
        + re.escape("<Tags><member><Key>a</Key><Value>é = 1</Value></member></Tags></User></CreateUserResult>")
        + r"<ResponseMetadata><RequestId>[0-9a-f-]{36}</RequestId></ResponseMetadata></CreateUserResponse>",
        body,
    )
    assert (status, bool(made)) == (200, True), body


def test_a_document_is_percent_encoded_as_rfc_3986_has_it(server: Server, user: str) -> None:
    document = SENDING.replace('"*"', '"arn:aws:sqs:*:*:a~b-c_d.e"')
    assert post(server, Action="PutUserPolicy", UserName=user, PolicyName="p", PolicyDocument=document)[0] == 200
    _, body = post(server, Action="GetUserPolicy", UserName=user, PolicyName="p")
    found = re.search("<PolicyDocument>(.*)</PolicyDocument>", body)
    assert found is not None
    assert found[1] == quote(document, safe="-_.~")
    assert unquote(found[1]) == document


def test_a_map_in_xml(server: Server) -> None:
    _, body = post(server, Action="GetAccountSummary")
    assert "<SummaryMap><entry><key>" in body
    assert "<entry><key>AccessKeysPerUserQuota</key><value>2</value></entry>" in body


@pytest.mark.parametrize(
    ("parameters", "status", "code", "message"),
    [
        (
            {"Action": "GetUser", "UserName": "nobody"},
            404,
            "NoSuchEntity",
            "The user with name nobody cannot be found.",
        ),
        (
            {"Action": "ListUsers", "MaxItems": "many"},
            400,
            "MalformedInput",
            "The value 'many' of MaxItems is not a whole number.",
        ),
        (
            {"Action": "CreateSAMLProvider"},
            400,
            "InvalidAction",
            "The action CreateSAMLProvider is not valid for this endpoint.",
        ),
    ],
)
def test_an_error_in_xml(server: Server, parameters: dict[str, str], status: int, code: str, message: str) -> None:
    found, body = post(server, **parameters)
    assert found == status
    assert f"<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message>" in body


def test_a_signature_for_another_service_is_not_good_here(server: Server) -> None:
    request = urlencode({"Action": "ListUsers", "Version": "2010-05-08"})
    signed = AWSRequest("GET", f"{server.url}/?{request}")
    SigV4Auth(Credentials(server.access_key, server.secret_key), "sqs", server.region).add_auth(signed)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with pytest.raises(urllib.error.HTTPError) as refused:
        opener.open(urllib.request.Request(signed.url, headers=dict(signed.headers.items())))
    with refused.value:
        assert b"InvalidAction" in refused.value.read()
