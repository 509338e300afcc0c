"""Lines of the journal as Arrow tables, parsed in C++ a block at a time; bad lines are set aside, never dropped.

A block that parses is one call. A block that does not is halved until the bad lines stand alone, so the cost of a bad
line is a handful of calls, and the judge is the same for good and bad. Arrow's reader has no maps: `attributes` are
rewritten, by regular expressions over whole columns, into the lists that it has.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.json import ParseOptions, ReadOptions, read_json

from penstock.pipeline.schemas import JOURNAL
from penstock.pipeline.sources.journal.columns import ARROW, REQUIRED

PAIRS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.list_(pa.string()))]))
KNOWN = pa.schema([(name, PAIRS if name == "attributes" else ARROW.field(name).type) for name in JOURNAL.names])
PARSING = ParseOptions(explicit_schema=KNOWN, unexpected_field_behavior="infer")

ATTRIBUTES = ',"attributes":{'
"""Only ever the field itself: inside a JSON string a quote has a backslash before it, never a comma."""
STRING = r'"(?:[^"\\]|\\.)*"'
PAIR = rf"({STRING}):(\[{STRING},{STRING}\])"


ROOM = 1024
"""Rewritten attributes take more room than they did; the parser is to have all in one piece."""


class Block(NamedTuple):
    """Whole lines, each with its end, and where they are from. `offset` is of the first byte, unpacked, if known."""

    lines: bytes
    file: str
    offset: int | None
    date: Any


class Unreadable(ValueError):
    """There is a line in it that is no event."""


def tables_of(block: Block) -> Iterator[Any]:
    """Every line of the block is one row, in order."""
    for bad, parts in groupby(_parts(block), key=lambda part: part[1] is None):
        if bad:
            yield problems([_corrupt(line) for line, _ in parts])
        else:
            yield from (_events(good, table) for good, table in parts)


def _parts(block: Block) -> Iterator[tuple[Block, Any]]:
    """The block, or what it must be cut into: readable parts with their table, and bad lines with none."""
    try:
        table = _read(block.lines)
    except Unreadable:
        if block.lines.count(b"\n") > 1:
            for half in _halves(block):
                yield from _parts(half)
            return
        table = None
    yield block, table


def _read(lines: bytes) -> Any:
    try:
        text = lines.decode()
        readable = _with_pairs(text) if ATTRIBUTES in text else lines
        reading = ReadOptions(use_threads=False, block_size=len(lines) * 3 + ROOM)
        table = read_json(pa.BufferReader(readable), reading, PARSING)
    except (pa.ArrowInvalid, UnicodeDecodeError):
        raise Unreadable from None
    if len(table) != lines.count(b"\n") or any(table.column(name).null_count for name in REQUIRED):
        raise Unreadable
    return table


def _events(block: Block, table: Any) -> Any:
    columns = {name: table.column(name) for name in JOURNAL.names}
    columns["attributes"] = _maps(table.column("attributes"))
    columns["extra"] = _extra(table, block.lines)
    columns["date"] = pa.repeat(pa.scalar(block.date, ARROW.field("date").type), len(table))
    return _complete(columns, len(table))


def _with_pairs(text: str) -> Any:
    """The same lines with `"attributes":{"a":["String","b"]}` as `"attributes":[{"key":"a","value":["String","b"]}]`.
    A line where it is anything else comes out without its closing brace, and so is found to be bad."""
    lines = _lines(text)
    having = pc.match_substring(lines, ATTRIBUTES)
    before, rest = _parted(pc.filter(lines, having), ATTRIBUTES)
    marked = pc.replace_substring_regex(rest, rf"^((?:{PAIR},?)*)\}}", "\\1\n", max_replacements=1)
    pairs, after = _parted(pc.binary_join_element_wise(marked, "", "\n"), "\n")
    pairs = pc.replace_substring_regex(pairs, PAIR, r'{"key":\1,"value":\2}')
    after = pc.replace_substring(after, "\n", "")
    rewritten = pc.binary_join_element_wise(before, ',"attributes":[', pairs, "]", after, "")
    lines = pc.replace_with_mask(lines, having, rewritten)
    return pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "\n")[0].as_buffer()


def _lines(text: str) -> Any:
    return pc.split_pattern(pa.array([text[:-1]]), "\n").values


def _parted(texts: Any, mark: str) -> tuple[Any, Any]:
    """Before and after the first mark, which every text has."""
    parts = pc.split_pattern(texts, mark, max_splits=1)
    return pc.list_element(parts, 0), pc.list_element(parts, 1)


def _maps(pairs: Any) -> Any:
    kind = ARROW.field("attributes").type
    if pairs.null_count == len(pairs):
        return pa.nulls(len(pairs), kind)
    lists = pa.concat_arrays(pairs.chunks)
    keys, values = lists.values.field("key"), lists.values.field("value")
    return pa.MapArray.from_arrays(lists.offsets, keys, values, type=kind, mask=lists.is_null())


def _extra(table: Any, lines: bytes) -> Any:
    """The line itself where it has a field that is not known here."""
    seen = [pc.is_valid(table.column(name)) for name in table.column_names if name not in KNOWN.names]
    if not seen:
        return pa.nulls(len(table), pa.string())
    some = seen[0]
    for more in seen[1:]:
        some = pc.or_(some, more)
    return pc.if_else(some, _lines(lines.decode()), None)


def _halves(block: Block) -> tuple[Block, Block]:
    middle = len(block.lines) // 2
    cut = block.lines.rfind(b"\n", 0, middle) + 1 or block.lines.find(b"\n", middle) + 1
    offset = None if block.offset is None else block.offset + cut
    return block._replace(lines=block.lines[:cut]), block._replace(lines=block.lines[cut:], offset=offset)


def _corrupt(line: Block) -> dict[str, Any]:
    raw = line.lines[:-1].decode(errors="backslashreplace")
    return {"date": line.date, "_corrupt": raw, "_source": {"file": line.file, "offset": line.offset}}


def problems(rows: list[dict[str, Any]]) -> Any:
    """Rows that are not events."""
    return pa.Table.from_pylist(rows, ARROW)


def _complete(columns: dict[str, Any], rows: int) -> Any:
    return pa.table([columns[f.name] if f.name in columns else pa.nulls(rows, f.type) for f in ARROW], schema=ARROW)
