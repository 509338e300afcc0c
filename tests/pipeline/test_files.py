"""Small files, on this machine and through Hadoop: the same promises."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.pipeline.files import Files, HadoopFiles, LocalFiles, Taken, files


@pytest.fixture(params=["local", "hadoop"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    if request.param == "local":
        return files(str(tmp_path))
    return files(f"file:{tmp_path}", request.getfixturevalue("spark"))


def test_an_address_with_a_scheme_goes_through_hadoop(spark: SparkSession, tmp_path: Path) -> None:
    assert isinstance(files(f"file:{tmp_path}", spark), HadoopFiles)
    assert isinstance(files(str(tmp_path), spark), LocalFiles)


def test_a_name_is_taken_once(folder: Files) -> None:
    folder.create("a/1.json", b"first")
    with pytest.raises(Taken):
        folder.create("a/1.json", b"second")
    assert folder.read("a/1.json") == b"first"


def test_what_is_replaced_has_the_new_content(folder: Files) -> None:
    for content in (b"one", b"two"):
        folder.replace("stamp", content)
        assert folder.read("stamp") == content


def test_nothing_is_read_where_nothing_is(folder: Files) -> None:
    assert folder.read("nothing") is None
    assert list(folder.below("nowhere")) == []
    folder.remove("nowhere")


def test_a_file_is_moved_to_a_folder_that_is_not_there_yet(folder: Files) -> None:
    folder.create("from/a", b"x")
    folder.move("from/a", "to/deep/b")
    assert [(found.path, found.size) for found in folder.below() if not found.path.endswith(".crc")] == [
        ("to/deep/b", 1)
    ]


def test_a_folder_is_removed_with_what_is_in_it(folder: Files) -> None:
    folder.create("a/b/c", b"x")
    folder.remove("a")
    assert list(folder.below()) == []


def test_an_address_beyond_this_machine_needs_the_jvm() -> None:
    with pytest.raises(ValueError, match="s3a://lake is reached through Spark's JVM, which a session with --remote"):
        files("s3a://lake", None)
