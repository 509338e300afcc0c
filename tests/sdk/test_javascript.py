"""The AWS SDK for JavaScript: signed by code that shares nothing with botocore, with permanent and temporary keys."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from server_process import Server

from .conftest import ENVIRONMENTS

MODULES = ENVIRONMENTS / "javascript" / "node_modules"
PROGRAM = Path(__file__).parent / "javascript" / "client.cjs"
BODY = "né ሴ 🎈 + % & <xml> \"quoted\" 'and' \\ /"


def test_the_sdk_for_javascript_is_served_with_permanent_and_temporary_keys(server: Server) -> None:
    if not (MODULES.exists() and shutil.which("node")) and "CI" not in os.environ:
        pytest.skip("run `make test-tools sdk-envs`")
    done = subprocess.run(
        ["node", PROGRAM, "javascript", BODY],
        env=server.environment | {"NODE_PATH": str(MODULES), "NODE_NO_WARNINGS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    trip = {"arn": "arn:aws:iam::000000000000:root", "same": True, "body": BODY, "kind": "00ff0a"}
    assert json.loads(done.stdout) == {
        "permanent": trip,
        "temporary": trip,
        "expires": True,
        "wrong secret": ["SignatureDoesNotMatch", 403],
        "no token": ["InvalidClientTokenId", 403],
        "another token": ["InvalidClientTokenId", 403],
    }
