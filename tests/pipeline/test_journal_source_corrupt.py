"""What cannot be read is a row that says so, or an error that says where: never nothing."""

import gzip
import json
from pathlib import Path

import pytest

from penstock.pipeline.sources.journal.source import Broken
from pipeline.journal_source import events, planned, rows_here
from pipeline.journals import NODE, Journal, line

BAD = {
    "torn": '{"node":"4f1c2a9be07d","seq":2,"ts_',
    "not an object": "12",
    "empty": "",
    "without a number": '{"node":"4f1c2a9be07d","ts_ms":1,"event":"SENT"}',
    "of a wrong type": '{"node":"4f1c2a9be07d","seq":"two","ts_ms":1,"event":"SENT"}',
    "two at once": '{"node":"n","seq":2,"ts_ms":1,"event":"SENT"}{"node":"n","seq":3,"ts_ms":1,"event":"SENT"}',
    "odd attributes": '{"node":"n","seq":2,"ts_ms":1,"event":"SENT","attributes":{"a":["one"]}}',
    "a lone surrogate": '{"node":"n","seq":2,"ts_ms":1,"event":"SENT","body":"\\ud800"}',
}


def text(*lines: object) -> str:
    return "".join(f"{one if isinstance(one, str) else json.dumps(one, separators=(',', ':'))}\n" for one in lines)


def name(file: Path) -> str:
    return "/".join(file.parts[-3:])


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_bad_line_is_a_row_with_its_text_and_place_and_the_others_are_read(journal: Journal, bad: str) -> None:
    file = journal.publish_text(text(line(1), bad, line(3)), line(1), line(3))
    before, found, after = rows_here(journal.folder)
    assert events([before, after]) == [line(1), line(3)]
    assert (found["_corrupt"], found["event"]) == (bad, None)
    assert found["_source"] == {"file": name(file), "offset": len(text(line(1)))}


def test_bytes_that_are_no_text_are_kept_in_a_form_that_can_be_shown(journal: Journal) -> None:
    file = journal.publish(line(1), line(2))
    file.write_bytes(gzip.compress(text(line(1)).encode() + b'{"node":"\xff"}\n'))
    assert [row["_corrupt"] for row in rows_here(journal.folder)] == [None, '{"node":"\\xff"}']


def test_many_bad_lines_among_many_good_ones_are_found_each(journal: Journal) -> None:
    lines = [f"bad {seq}" if seq % 97 == 0 else line(seq) for seq in range(1, 2001)]
    journal.publish_text(text(*lines), line(1), line(2000))
    found = rows_here(journal.folder)
    assert [row["_corrupt"] for row in found if row["_corrupt"]] == [one for one in lines if isinstance(one, str)]
    assert events([row for row in found if not row["_corrupt"]]) == [one for one in lines if not isinstance(one, str)]


def test_corrupt_can_be_an_error_that_names_file_and_offset(journal: Journal) -> None:
    file = journal.publish_text(text(line(1), "x"), line(1), line(2))
    with pytest.raises(Broken, match=f"{name(file)}, offset {len(text(line(1)))}: the line is no event"):
        rows_here(journal.folder, corrupt="fail")


def test_a_line_with_unknown_fields_is_an_event_and_is_kept_whole(journal: Journal) -> None:
    newer = line(2, colour={"hue": 7}) | {"shade": "dark"}
    journal.publish(line(1), newer, line(3))
    found = rows_here(journal.folder)
    assert [row["extra"] and json.loads(row["extra"]) for row in found] == [None, newer, None]
    assert [row["seq"] for row in found] == [1, 2, 3]


def test_an_unknown_field_of_two_types_is_kept_too(journal: Journal) -> None:
    newer = [line(seq, colour=seq if seq % 2 else "red") for seq in range(1, 9)]
    journal.publish(*newer)
    assert [json.loads(row["extra"]) for row in rows_here(journal.folder)] == newer


def test_a_truncated_file_is_read_to_where_it_ends_and_the_rest_is_counted(journal: Journal) -> None:
    file = journal.publish(*(line(seq, body=str(hash(str(seq)))) for seq in range(1, 1001)))
    file.write_bytes(file.read_bytes()[:-4000])
    *good, torn, gap = rows_here(journal.folder)
    assert [row["seq"] for row in good] == list(range(1, len(good) + 1))
    assert torn["_corrupt"] is not None
    assert (gap["event"], gap["seq"], gap["count"]) == ("_GAP", len(good) + 2, 1000 - len(good) - 1)
    assert "cut off at byte" in gap["reason"]


def test_a_damaged_file_is_counted_or_an_error_that_names_it(journal: Journal) -> None:
    file = journal.publish(*(line(seq) for seq in range(1, 11)))
    file.write_bytes(b"no gzip file at all")
    (gap,) = rows_here(journal.folder)
    assert (gap["event"], gap["node"], gap["seq"], gap["count"]) == ("_GAP", NODE, 1, 10)
    with pytest.raises(Broken, match=f"{name(file)}: .* the gzip file is damaged"):
        rows_here(journal.folder, corrupt="fail")


def test_a_wrong_checksum_is_told_even_if_every_line_is_there(journal: Journal) -> None:
    file = journal.publish(line(1), line(2))
    data = bytearray(file.read_bytes())
    data[-8] ^= 1
    file.write_bytes(data)
    found = rows_here(journal.folder)
    assert [(row["event"], row["count"]) for row in found] == [("SENT", None), ("SENT", None), ("_GAP", 0)]
    assert "incorrect data check" in found[-1]["reason"]


def test_a_missing_segment_stops_a_batch_and_says_which_events(journal: Journal) -> None:
    journal.publish(line(1), line(2))
    journal.publish(line(6), line(7))
    with pytest.raises(Broken, match=f"events 3 to 5 of node {NODE} are missing: .* gaps = report"):
        rows_here(journal.folder)


def test_a_missing_segment_is_a_row_if_that_is_wanted(journal: Journal) -> None:
    journal.publish(line(1), line(2))
    journal.publish(line(6), line(7))
    found = rows_here(journal.folder, gaps="report")
    assert [row["seq"] for row in found] == [1, 2, 3, 6, 7]
    assert json.loads(found[2]["_corrupt"]) == {"node": NODE, "from": 3, "to": 5}
    assert (found[2]["event"], found[2]["count"]) == ("_GAP", 3)


def test_what_retention_took_before_the_first_segment_is_no_gap(journal: Journal) -> None:
    journal.publish(line(100), line(101))
    assert [row["seq"] for row in rows_here(journal.folder)] == [100, 101]


def test_a_segment_that_is_shorter_than_its_name_says_is_a_gap(journal: Journal) -> None:
    journal.publish_text(text(line(1), line(2)), line(1), line(4))
    with pytest.raises(Broken, match=r"events 3 to 4 .* fewer lines than its name says"):
        rows_here(journal.folder)


def test_overlapping_segments_give_each_event_once(journal: Journal) -> None:
    journal.publish(*(line(seq) for seq in range(1, 5)))
    journal.publish(*(line(seq) for seq in range(3, 8)))
    journal.publish(line(2), line(3))
    assert [row["seq"] for row in rows_here(journal.folder)] == [1, 2, 3, 4, 5, 6, 7]


def test_a_segment_deleted_after_planning_is_a_gap(journal: Journal) -> None:
    file = journal.publish(line(1), line(2))
    reader, partitions = planned(journal.folder, gaps="report")
    file.unlink()
    ((row,),) = [batch.to_pylist() for batch in reader.read(partitions[0])]
    assert (row["event"], row["seq"], row["count"]) == ("_GAP", 1, 2)


def test_what_options_ask_for_never_hides_that_something_is_bad(journal: Journal) -> None:
    journal.publish_text(text(line(1), "bad", line(3, queue="other")), line(1), line(3))
    found = rows_here(journal.folder, queue="other", events="SENT")
    assert [(row["seq"], row["_corrupt"]) for row in found] == [(None, "bad"), (3, None)]
