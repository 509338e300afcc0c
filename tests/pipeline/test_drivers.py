"""Drivers that tests start go with the test, however it ends."""

import signal
from pathlib import Path

import pytest

from .drivers import Driver


def test_a_test_that_is_interrupted_leaves_no_driver_behind(tmp_path: Path) -> None:
    def moment() -> bool:
        raise KeyboardInterrupt

    driver = Driver(["land", "--out", str(tmp_path)], "local[1]", tmp_path / "log").start()
    with pytest.raises(KeyboardInterrupt):
        driver.kill_when(moment)
    assert driver.process.returncode == -signal.SIGKILL
