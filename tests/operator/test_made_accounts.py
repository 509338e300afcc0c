"""Accounts that an operator makes while the server runs, as boto3 meets them, and over restarts."""

import configparser
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from operating import Start, kill

from server_process import Server

SHOP, BANK = "111122223333", "444455556666"
TOML = f"""
    max_queues_per_account = 2
    [[accounts]]
    id = "{BANK}"
    name = "bank"
    keys = [{{ access_key = "BANK_ACCESS_KEY_1", secret_key = "the secret of the bank" }}]
"""


def holder(server: Server, key: dict[str, str]) -> Server:
    """The server as whoever has this key sees it."""
    return replace(server, access_key=key["AccessKeyId"], secret_key=key["SecretAccessKey"])


def accounts(server: Server) -> list[tuple[str, str]]:
    pages = server.client("penstock").get_paginator("list_accounts").paginate(PaginationConfig={"PageSize": 1})
    return [(one["AccountId"], one["Origin"]) for page in pages for one in page["Accounts"]]


def test_an_account_its_quota_and_its_end_are_durable(start: Start) -> None:
    server = start(TOML)
    made = server.client("penstock").create_account(AccountId=SHOP, Title="shop")
    shop = holder(server, made["RootKey"])
    for name in ("one", "two"):
        shop.client().create_queue(QueueName=name)
    kill(server)
    server.start()
    shop = holder(server, made["RootKey"])
    with pytest.raises(ClientError) as refused:
        shop.client().create_queue(QueueName="three")
    assert refused.value.response["Error"]["Code"] == "LimitExceeded"
    own = server.client("penstock")
    own.set_account_quota(AccountId=SHOP, MaxQueues=3)
    shop.client().create_queue(QueueName="three")
    assert accounts(server) == [("000000000000", "root"), (SHOP, "made"), (BANK, "settings")]
    assert own.delete_account(AccountId=SHOP, Force=True)["Contents"]["Queues"] == 3
    kill(server)
    server.start()
    assert accounts(server) == [("000000000000", "root"), (BANK, "settings")]
    assert server.client("penstock").list_all_queues()["Queues"] == []


def test_a_declared_account_is_listed_and_stays(start: Start) -> None:
    own = start(TOML).client("penstock")
    with pytest.raises(ClientError, match="the settings file declares it"):
        own.delete_account(AccountId=BANK, Force=True)
    (bank,) = [one for one in own.list_accounts()["Accounts"] if one["AccountId"] == BANK]
    assert (bank["Title"], bank["Keys"], bank["MaxQueues"], bank["OwnQuota"]) == ("bank", 1, 2, False)


def kept(server: Server) -> dict[str, str]:
    file = configparser.RawConfigParser()
    file.read(server.data / "credentials")
    given = file["default"]
    return {"AccessKeyId": given["aws_access_key_id"], "SecretAccessKey": given["aws_secret_access_key"]}


def identity(server: Server) -> Any:
    return server.client("sts").get_caller_identity()["Account"]


def test_the_root_account_s_own_key_is_rotated_and_its_file_follows(start: Start) -> None:
    server = start(root_access_key="", root_secret_key="")
    first = kept(server)
    root = holder(server, first)
    new = root.client("penstock").rotate_root_key(AccountId="000000000000")
    assert new["RemovedAccessKeyIds"] == [first["AccessKeyId"]]
    assert kept(server) == new["RootKey"]
    assert (server.data / "credentials").stat().st_mode & 0o777 == 0o600
    assert identity(holder(server, new["RootKey"])) == "000000000000"
    with pytest.raises(ClientError, match="InvalidClientTokenId"):
        identity(root)
    kill(server)
    server.start()
    assert kept(server) == new["RootKey"]
    assert identity(holder(server, new["RootKey"])) == "000000000000"
