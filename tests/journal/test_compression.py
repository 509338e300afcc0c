"""Segments, compressed by Python and by native code: the same to whoever reads them, and a full disk is told of."""

import errno
import gzip
import stat
from pathlib import Path
from types import ModuleType

import pytest

from conformance.gathering import compiled
from penstock.journal.disk import Disk

FULL = Path("/dev/full")
LINES = b"".join(b'{"seq":%d,"event":"SENT"}\n' % number for number in range(50_000))


@pytest.fixture(params=[False, True], ids=["python", "native"])
def disk(request: pytest.FixtureRequest) -> Disk:
    disk = Disk()
    native: ModuleType | None = compiled() if request.param else None
    disk.native = native
    return disk


@pytest.mark.parametrize("lines", [LINES, LINES[:100], b""], ids=["many", "few", "none"])
def test_a_segment_is_compressed_and_whole(disk: Disk, tmp_path: Path, lines: bytes) -> None:
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    plain.write_bytes(lines)
    disk.compress(plain, packed)
    assert gzip.decompress(packed.read_bytes()) == lines
    assert stat.S_IMODE(packed.stat().st_mode) == 0o600
    assert plain.read_bytes() == lines
    assert len(packed.read_bytes()) < max(100, len(lines) // 5)


@pytest.mark.skipif(not FULL.exists(), reason="there is no such device")
def test_native_code_tells_of_a_full_disk_by_its_number(tmp_path: Path) -> None:
    source = tmp_path / "plain"
    source.write_bytes(LINES)
    with source.open("rb") as plain, FULL.open("wb") as packed, pytest.raises(OSError, match="No space left") as caught:
        compiled().compress(plain.fileno(), packed.fileno())
    assert caught.value.errno == errno.ENOSPC
