"""What a server on this machine uses: processor time, memory, disk. Read from /proc and the clocks of processes, so on
Linux only.

A server may have children; all of them count.
"""

import os
import time
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
LISTENING = "0A"
JOURNAL = "journal"
TICKS = os.sysconf("SC_CLK_TCK")
LOOK_SECONDS, NEXT_TO_NOTHING, SETTLING_SECONDS = 0.25, 0.05, 60.0
CPU_CLOCK = 2
"""With a process's number above it: the clock of the time that all its threads have had (`clock_getcpuclockid`)."""


class Watch:
    """One server. Without a process or a directory the answers are None."""

    def __init__(self, pid: int | None, data: Path | None = None) -> None:
        self.pid, self.data = pid, data

    def cpu_seconds(self) -> float | None:
        if self.pid is None:
            return None
        # Fields 16 and 17 of /proc/PID/stat are the ticks of children that have ended.
        return sum(_own_seconds(pid) + sum(map(int, fields[13:15])) / TICKS for pid, fields in self._processes())

    def cpu_share(self, seconds: float) -> float | None:
        """Of one processor, for so long from now."""
        before = self.cpu_seconds()
        time.sleep(seconds)
        after = self.cpu_seconds()
        return None if before is None or after is None else (after - before) / seconds

    def settle(self, most_seconds: float = SETTLING_SECONDS) -> None:
        """Wait until it does next to nothing: what a load has left to do is done in the server's own time."""
        until = time.monotonic() + most_seconds
        while (self.cpu_share(LOOK_SECONDS) or 0.0) > NEXT_TO_NOTHING and time.monotonic() < until:
            pass

    def peak_bytes(self) -> int | None:
        """The most memory that was resident since `forget_peak`, or since the start where that is not allowed."""
        if self.pid is None:
            return None
        return sum(_status_bytes(pid, "VmHWM") for pid, _ in self._processes())

    def resident_bytes(self) -> int | None:
        """The memory that is resident now."""
        if self.pid is None:
            return None
        return sum(_status_bytes(pid, "VmRSS") for pid, _ in self._processes())

    def forget_peak(self) -> None:
        if self.pid is not None:
            for pid, _ in self._processes():
                with suppress(OSError):
                    (PROC / str(pid) / "clear_refs").write_text("5")

    def disk_bytes(self, part: str = "") -> int | None:
        """What its directory takes, or one that is in it."""
        if self.data is None:
            return None
        total = 0
        for folder, _, names in os.walk(self.data / part):
            for name in names:
                with suppress(OSError):
                    total += os.stat(os.path.join(folder, name)).st_blocks * 512
        return total

    def stored_bytes(self) -> int | None:
        """The same without the journal, which is a history with a retention of its own."""
        disk, journal = self.disk_bytes(), self.disk_bytes(JOURNAL)
        return None if disk is None or journal is None else disk - journal

    def _processes(self) -> list[tuple[int, list[str]]]:
        """The process and its descendants, each with the fields of its stat after the name."""
        everyone: dict[int, list[str]] = {}
        for entry in PROC.iterdir():
            if entry.name.isdigit():
                with suppress(OSError):
                    everyone[int(entry.name)] = (entry / "stat").read_text().rpartition(")")[2].split()
        family = [self.pid] if self.pid in everyone else []
        for member in family:  # grows while it is walked
            family += [pid for pid, fields in everyone.items() if int(fields[1]) == member]
        return [(pid, everyone[pid]) for pid in family if pid is not None]


def _own_seconds(pid: int) -> float:
    """By the process's own clock: /proc tells it in hundredths, and a measurement may take three of them."""
    with suppress(OSError):
        return time.clock_gettime((~pid << 3) | CPU_CLOCK)
    return 0.0


def _status_bytes(pid: int, name: str) -> int:
    with suppress(OSError):
        for line in (PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    return 0


def pid_listening_on(port: int) -> int | None:
    """The process of this machine that listens on the port, if we may see it."""
    sockets = {f"socket:[{inode}]" for table in ("tcp", "tcp6") for inode in _inodes(PROC / "net" / table, port)}
    for entry in PROC.iterdir() if sockets else ():
        if entry.name.isdigit():
            with suppress(OSError):
                if any(os.readlink(file) in sockets for file in (entry / "fd").iterdir()):
                    return int(entry.name)
    return None


def _inodes(table: Path, port: int) -> list[str]:
    with suppress(OSError):
        rows = [line.split() for line in table.read_text().splitlines()[1:]]
        return [row[9] for row in rows if row[3] == LISTENING and int(row[1].rpartition(":")[2], 16) == port]
    return []
