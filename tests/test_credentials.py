"""The copy of the root account's key in the data directory."""

from pathlib import Path

from penstock.credentials import RootCredentials


def test_a_changed_key_is_in_the_file(tmp_path: Path) -> None:
    credentials = RootCredentials("AKIAOLD", "old", tmp_path / "credentials")
    assert credentials.write()
    credentials.change("AKIANEW", "new")
    text = (tmp_path / "credentials").read_text()
    assert "AKIANEW" in text
    assert "AKIAOLD" not in text


def test_a_file_that_cannot_be_written_stops_nobody_who_changes_the_key(tmp_path: Path) -> None:
    credentials = RootCredentials("AKIAOLD", "old", tmp_path / "gone" / "credentials")
    credentials.change("AKIANEW", "new")
    assert (credentials.access_key, credentials.secret_key) == ("AKIANEW", "new")
