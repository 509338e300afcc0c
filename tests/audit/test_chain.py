"""Whatever is done to the files of the audit log is found; one cut off at its end, by a hash that was noted before."""

from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.audit.files import Files
from penstock.audit.verification import verify
from penstock.core.audit import START, read_line
from penstock.core.clock import ManualClock

from .conftest import Begin, entry, files, kept, written

Lines = list[bytes]


@pytest.fixture
async def ten(begin: Begin, clock: ManualClock, tmp_path: Path) -> Path:
    """A folder with ten lines in three files: two lives, and a file that was full."""
    for life, names in enumerate((range(6), range(6, 10))):
        log = begin(file_bytes=900)
        for name in names:
            await written(log, entry(clock, resource=f"UserName=u{name}", request_id=f"{life}"))
            clock.advance(1)
        await log.stop()
    assert len(files(tmp_path)) == 3
    return tmp_path


def problems(folder: Path, known: str = "") -> list[str]:
    return verify(Files(folder), known).problems


def change(file: Path, edit: Callable[[Lines], Lines]) -> None:
    file.write_bytes(b"".join(edit(file.read_bytes().splitlines(keepends=True))))


def test_a_log_that_nobody_touched_is_whole_over_files_and_lives(ten: Path) -> None:
    report = verify(Files(ten))
    assert (report.problems, report.lines, report.end.seq) == ([], 10, 10)


async def test_the_first_line_of_all_has_nothing_before_it(begin: Begin, clock: ManualClock) -> None:
    log = begin()
    await written(log, entry(clock), entry(clock))
    first, second = kept(log)
    assert (first.entry.prev, second.entry.prev) == (START, first.hash)
    assert (first.entry.seq, second.entry.seq) == (1, 2)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_an_edited_line_is_found(ten: Path, number: int) -> None:
    change(files(ten)[number], lambda lines: [lines[0].replace(b"UserName=u", b"UserName=x"), *lines[1:]])
    (problem,) = problems(ten)
    assert problem.endswith("was changed after it was written")


def test_a_line_that_was_edited_and_hashed_again_is_found_by_the_next(ten: Path) -> None:
    from penstock.core.audit import line_of

    def edit(lines: Lines) -> Lines:
        found = read_line(lines[1]).entry
        found.resource = "UserName=x"
        return [lines[0], line_of(found)[0], *lines[2:]]

    change(files(ten)[0], edit)
    (problem,) = problems(ten)
    assert "was not written after number 2 as it is now" in problem


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_removed_line_is_found(ten: Path, number: int) -> None:
    change(files(ten)[number], lambda lines: [lines[0], *lines[2:]])
    (problem,) = problems(ten)
    assert "lines are missing or were moved" in problem


def test_lines_that_changed_places_are_found(ten: Path) -> None:
    change(files(ten)[0], lambda lines: [lines[1], lines[0], *lines[2:]])
    assert len(problems(ten)) >= 2


def test_a_line_that_was_put_in_is_found(ten: Path) -> None:
    change(files(ten)[0], lambda lines: [lines[0], b"hello\n", *lines[1:]])
    (problem,) = problems(ten)
    assert problem.endswith("line 2: this is no line of the audit log")


@pytest.mark.parametrize("number", [0, 1])
def test_a_removed_file_is_found(ten: Path, number: int) -> None:
    files(ten)[number].unlink()
    assert len(problems(ten)) == 1


def test_a_log_cut_off_at_its_end_is_found_by_a_hash_noted_before(ten: Path) -> None:
    end = verify(Files(ten)).end.hash
    assert problems(ten, end) == []
    change(files(ten)[2], lambda lines: lines[:-1])
    assert problems(ten) == []
    (problem,) = problems(ten, end)
    assert problem.startswith(f"no line has the hash {end}")


async def test_what_a_kill_left_of_a_line_is_no_problem_and_the_chain_goes_on(
    ten: Path, begin: Begin, clock: ManualClock
) -> None:
    with files(ten)[2].open("ab") as file:
        file.write(b'{"seq":11,"ts_')
    log = begin()
    await written(log, entry(clock))
    assert (problems(ten), kept(log)[-1].entry.seq) == ([], 11)


async def test_a_file_with_nothing_but_a_part_of_a_line_is_used_again(
    begin: Begin, clock: ManualClock, tmp_path: Path
) -> None:
    Files(tmp_path).path_of(1).write_bytes(b'{"seq":1,"ts_')
    log = begin()
    await written(log, entry(clock))
    assert (problems(tmp_path), len(kept(log))) == ([], 1)


async def test_a_spoilt_file_is_not_written_over(begin: Begin, clock: ManualClock, tmp_path: Path) -> None:
    Files(tmp_path).path_of(1).write_bytes(b"spoilt\n")
    await written(begin(), entry(clock))
    (problem,) = problems(tmp_path)
    assert problem.endswith("line 1: this is no line of the audit log")
