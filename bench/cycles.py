"""How fast does one message go through: send → receive → delete, one message a call, every reply checked.

    python bench/cycles.py                       starts a server of its own in a temporary directory
    python bench/cycles.py --seconds 10 --connections 1 16 64

The load client is light: raw keep-alive connections, requests signed with Signature Version 4, replies checked for
their status and for the body that was sent. It shares the machine with the server.
"""

import argparse
import asyncio
import hashlib
import hmac
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import uvloop

ACCESS_KEY, SECRET_KEY, REGION = "AKIABENCHBENCHBENCH0", "bench-secret-bench-secret-bench", "us-east-1"
BODY = "x" * 256


class Client:
    """One keep-alive connection."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port

    async def connect(self) -> None:
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port)

    async def call(self, action: str, request: dict) -> dict:
        body = json.dumps(request).encode()
        self.writer.write(signed(action, body, f"{self.host}:{self.port}"))
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(re.search(rb"(?i)content-length: (\d+)", head).group(1))
        reply = await self.reader.readexactly(length) if length else b"{}"
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{action}: {head.splitlines()[0]!r} {reply!r}")
        return json.loads(reply)


_keys: dict[str, bytes] = {}


def signing_key(date: str) -> bytes:
    if date not in _keys:
        key = f"AWS4{SECRET_KEY}".encode()
        for part in (date, REGION, "sqs", "aws4_request"):
            key = hmac.digest(key, part.encode(), "sha256")
        _keys[date] = key
    return _keys[date]


def signed(action: str, body: bytes, host: str) -> bytes:
    now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    scope = f"{now[:8]}/{REGION}/sqs/aws4_request"
    names = "content-type;host;x-amz-date;x-amz-target"
    canonical = (
        f"POST\n/\n\ncontent-type:application/x-amz-json-1.0\nhost:{host}\nx-amz-date:{now}\n"
        f"x-amz-target:AmazonSQS.{action}\n\n{names}\n{hashlib.sha256(body).hexdigest()}"
    )
    to_sign = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    signature = hmac.digest(signing_key(now[:8]), to_sign.encode(), "sha256").hex()
    return (
        f"POST / HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Date: {now}\r\n"
        f"X-Amz-Target: AmazonSQS.{action}\r\nAuthorization: AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/{scope}, "
        f"SignedHeaders={names}, Signature={signature}\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


async def cycles(url: str, queue: str, connections: int, seconds: float) -> float:
    host, port = url.removeprefix("http://").split(":")
    done = 0
    end = time.perf_counter() + seconds

    async def one(client: Client) -> None:
        nonlocal done
        while time.perf_counter() < end:
            await client.call("SendMessage", {"QueueUrl": queue, "MessageBody": BODY})
            received = await client.call("ReceiveMessage", {"QueueUrl": queue, "WaitTimeSeconds": 5})
            (message,) = received["Messages"]
            assert message["Body"] == BODY
            await client.call("DeleteMessage", {"QueueUrl": queue, "ReceiptHandle": message["ReceiptHandle"]})
            done += 1

    clients = [Client(host, int(port)) for _ in range(connections)]
    for client in clients:
        await client.connect()
    started = time.perf_counter()
    await asyncio.gather(*(one(client) for client in clients))
    return done / (time.perf_counter() - started)


def with_boto3(url: str, seconds: float) -> float:
    import boto3

    sqs = boto3.client(
        "sqs", endpoint_url=url, region_name=REGION, aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY
    )
    queue = sqs.create_queue(QueueName="bench-boto3")["QueueUrl"]
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        sqs.send_message(QueueUrl=queue, MessageBody=BODY)
        (message,) = sqs.receive_message(QueueUrl=queue)["Messages"]
        sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
        done += 1
    return done / (time.perf_counter() - started)


def start_server(data: str) -> tuple[subprocess.Popen, str, float]:
    started = time.perf_counter()
    server = subprocess.Popen(
        [sys.executable, "-m", "penstock", "serve"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ
        | {
            "PENSTOCK_LISTEN": "127.0.0.1:0",
            "PENSTOCK_DATA": data,
            "PENSTOCK_ROOT_ACCESS_KEY": ACCESS_KEY,
            "PENSTOCK_ROOT_SECRET_KEY": SECRET_KEY,
            "PENSTOCK_MAX_CONNECTIONS_PER_ADDRESS": "2000",
        },
    )
    line = server.stdout.readline()
    return server, re.search(r"http://\S+", line).group(), time.perf_counter() - started


def bare_fsync(folder: str) -> float:
    """The median time of one fdatasync of one page on the same disk, in microseconds."""
    with open(Path(folder) / "fsync", "wb") as file:
        times = []
        for number in range(200):
            os.pwrite(file.fileno(), b"x" * 4096, number * 4096)
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - started)
    return sorted(times)[100] * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 16, 64])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        fsync = bare_fsync(folder)
        server, url, start = start_server(f"{folder}/data")
        try:
            process = psutil.Process(server.pid)
            print(f"bare fdatasync          {fsync:8.0f} µs")
            print(f"start to listening      {start:8.2f} s")
            idle = process.memory_info().rss
            print(f"boto3, 1 connection     {with_boto3(url, options.seconds):8.0f} cycles/s")
            for connections in options.connections:
                queue = f"bench-{connections}"

                async def run(queue: str = queue, connections: int = connections) -> float:
                    host, port = url.removeprefix("http://").split(":")
                    client = Client(host, int(port))
                    await client.connect()
                    address = (await client.call("CreateQueue", {"QueueName": queue}))["QueueUrl"]
                    return await cycles(url, address, connections, options.seconds)

                print(f"raw, {connections:3} connections    {uvloop.run(run()):8.0f} cycles/s", flush=True)
            print(f"resident, idle / loaded {idle / 2**20:8.0f} / {process.memory_info().rss / 2**20:.0f} MiB")
        finally:
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    main()
