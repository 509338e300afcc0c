"""Which table a folder holds: a small file in it says the table's name, its version and an id of its own."""

import json
import uuid
from collections.abc import Mapping
from typing import Any

from penstock.pipeline.files import Files, Taken
from penstock.pipeline.schemas import Schema
from penstock.pipeline.told import Told

STAMP = "_table.json"


class TableError(Told):
    """The table is not what the job takes it for; the message is for the person who started the job."""


def identity(folder: Files, schema: Schema) -> str:
    """The id of the table in this folder, which is made if there is none."""
    stamp = _found(folder)
    if stamp is None:
        return _made(folder, schema)
    if stamp["name"] != schema.name:
        raise TableError(f"{folder.url()} is a table {stamp['name']!r}, not {schema.name!r}")
    if stamp["version"] > schema.version:
        raise TableError(
            f"{folder.url()} has version {stamp['version']} of {schema.name!r} and this Penstock knows "
            f"{schema.version}: it was written by a newer one"
        )
    if stamp["version"] < schema.version:
        folder.replace(STAMP, json.dumps({**stamp, "version": schema.version}).encode())
    return str(stamp["id"])


def _found(folder: Files) -> Mapping[str, Any] | None:
    content = folder.read(STAMP)
    try:
        return None if content is None else json.loads(content)
    except ValueError:
        raise TableError(f"{folder.url(STAMP)} is not the stamp of a table") from None


def _made(folder: Files, schema: Schema) -> str:
    stranger = next((found.path for found in folder.below() if found.path.endswith(".parquet")), None)
    if stranger:
        raise TableError(f"{folder.url()} has files that no job of Penstock wrote ({stranger})")
    made = {"name": schema.name, "version": schema.version, "id": uuid.uuid4().hex}
    try:
        folder.create(STAMP, json.dumps(made).encode())
    except Taken:  # another writer was quicker
        return identity(folder, schema)
    return str(made["id"])
