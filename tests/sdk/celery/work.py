"""The tasks of `test_celery.py`, in Celery's own environment: set up as docs/howto/use-with-sdks.md says."""

import os
import signal
from pathlib import Path

from celery import Celery
from kombu.utils.url import safequote

BEGUN, DONE = Path("begun"), Path("done")

key, secret = safequote(os.environ["AWS_ACCESS_KEY_ID"]), safequote(os.environ["AWS_SECRET_ACCESS_KEY"])
app = Celery("work", broker=f"sqs://{key}:{secret}@{os.environ['AWS_ENDPOINT_URL'].removeprefix('http://')}")
app.conf.broker_transport_options = {
    "region": "us-east-1",
    "is_secure": False,
    "wait_time_seconds": 1,
    "visibility_timeout": 3,
    "polling_interval": 0.1,
}
app.conf.task_acks_late = True
app.conf.task_default_queue = "celery-work"


@app.task(bind=True)
def paint(self, colour):
    """Its worker dies at the first delivery, as if its machine had gone; at the second it is put off by a second."""
    if not BEGUN.exists():
        BEGUN.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if not self.request.retries:
        raise self.retry(countdown=1)
    DONE.write_text(colour)
