"""Servers on machines that can be made sick: see `sick/sitecustomize.py` for what may ail them."""

import os
from pathlib import Path

SICK = Path(__file__).with_name("sick")


class Machine:
    """`settings` are for the server that is to run on it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "ailments"
        self._folder.mkdir()
        path = os.pathsep.join([str(SICK), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        self.settings = {"PYTHONPATH": path, "SICK_FOLDER": str(self._folder)}

    def falls_ill(self, ailment: str, how: object = "") -> None:
        (self._folder / ailment).write_text(str(how))

    def recovers(self, ailment: str) -> None:
        (self._folder / ailment).unlink()
