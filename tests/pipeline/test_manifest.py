"""Commits of a table: once each, in order, by one writer at a time."""

import json
from pathlib import Path

import pytest

from penstock.pipeline.files import LocalFiles
from penstock.pipeline.manifest import EVERY, FOLDER, Broken, Commit, Manifest, State


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    return Manifest(LocalFiles(str(tmp_path)))


def add(manifest: Manifest, query: str, batch: int | None, *added: str, removed: tuple[str, ...] = ()) -> State:
    return manifest.commit(lambda state: Commit(query, batch, added, removed, len(added)))


def test_a_batch_commits_once(manifest: Manifest) -> None:
    add(manifest, "q", 0, "a")
    add(manifest, "q", 0, "b")
    state = add(manifest, "q", 1, "c")
    assert list(state.live) == ["a", "c"]
    assert (state.version, state.rows) == (2, 2)


def test_each_query_has_batches_of_its_own(manifest: Manifest) -> None:
    add(manifest, "q", 4, "a")
    state = add(manifest, "other", 0, "b")
    assert state.batches == {"q": 4, "other": 0}
    assert state.has("q", 3)
    assert not state.has("q", 5)
    assert not state.has("third", 0)


def test_upkeep_may_happen_any_number_of_times(manifest: Manifest) -> None:
    add(manifest, "q", 0, "a", "b")
    add(manifest, "q", None, "ab", removed=("a", "b"))
    state = add(manifest, "q", None, "ab2", removed=("ab",))
    assert list(state.live) == ["ab2"]
    assert state.batches == {"q": 0}


def test_a_writer_who_was_overtaken_is_asked_again_with_the_newer_state(manifest: Manifest) -> None:
    asked: list[int] = []

    def make(state: State) -> Commit:
        asked.append(state.version)
        if len(asked) == 1:
            add(manifest, "quicker", 0, "x")
        return Commit("slower", 0, ["y"])

    assert list(manifest.commit(make).live) == ["x", "y"]
    assert asked == [0, 1]


def test_a_sum_stands_for_the_commits_before_it(manifest: Manifest, tmp_path: Path) -> None:
    for batch in range(2 * EVERY + 3):
        state = add(manifest, "q", batch, f"f{batch}")
    assert Manifest(LocalFiles(str(tmp_path))).state() == state
    assert len(state.live) == 2 * EVERY + 3
    assert len(list((tmp_path / FOLDER).iterdir())) < 2 * EVERY


def test_a_commit_that_was_deleted_is_missed(manifest: Manifest, tmp_path: Path) -> None:
    for batch in range(3):
        add(manifest, "q", batch, f"f{batch}")
    (tmp_path / FOLDER / f"{2:020d}.json").unlink()
    with pytest.raises(Broken, match="lacks commit 2"):
        manifest.state()


def test_a_commit_that_is_no_json_is_named(manifest: Manifest, tmp_path: Path) -> None:
    add(manifest, "q", 0, "a")
    (tmp_path / FOLDER / f"{1:020d}.json").write_text(json.dumps("half")[:3])
    with pytest.raises(Broken, match=f"{1:020d}.json is not a commit of a table"):
        manifest.state()
