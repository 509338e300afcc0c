"""Is the log as it was written? Every line is hashed again and compared with the next.

Found are lines that were edited, removed, put in or moved, and files that are gone, unless the log itself says that
they were too old. What a chain without a secret cannot show is a log cut off at its end, or written anew from some line
on: for that, a hash that was noted elsewhere before is looked for (`known`).
"""

from dataclasses import dataclass, field

from penstock.audit.files import File, Files, Place, lines, sealed
from penstock.core.audit import Kind, Sealed


@dataclass
class Report:
    files: int = 0
    lines: int = 0
    end: Place = field(default_factory=Place)
    problems: list[str] = field(default_factory=list)


def verify(files: Files, known: str = "") -> Report:
    work = _Verification(known)
    for file in files.all():
        work.file(file)
    return work.ended()


class _Verification:
    def __init__(self, known: str) -> None:
        self._known, self._seen = known, not known
        self.report = Report()
        self._begin: int | None = None
        self._forgotten = 0

    def file(self, file: File) -> None:
        self.report.files += 1
        for number, line in enumerate(lines(file.path), 1):
            where = f"{file.path.name}, line {number}"
            found = sealed(line)
            if found is None:
                self.report.problems.append(f"{where}: this is no line of the audit log")
                continue
            if number == 1 and found.entry.seq != file.first:
                self.report.problems.append(f"{where}: the file's name says {file.first}, its line {found.entry.seq}")
            self._line(where, found)

    def _line(self, where: str, found: Sealed) -> None:
        entry, end, problems = found.entry, self.report.end, self.report.problems
        if self._begin is None:
            self._begin = entry.seq
        elif entry.seq != end.seq + 1:
            problems.append(f"{where}: number {entry.seq} follows {end.seq}: lines are missing or were moved")
        elif entry.prev != end.hash:
            problems.append(f"{where}: number {entry.seq} was not written after number {end.seq} as it is now")
        if not found.intact:
            problems.append(f"{where}: number {entry.seq} was changed after it was written")
        if entry.kind is Kind.FORGOTTEN:
            self._forgotten = max(self._forgotten, int(entry.resource))
        self._seen = self._seen or found.hash == self._known
        self.report.lines += 1
        self.report.end = Place(entry.seq, found.hash)

    def ended(self) -> Report:
        if self._begin is not None and self._begin > self._forgotten + 1:
            self.report.problems.append(
                f"the log begins with number {self._begin}, and nothing in it says that those before were too old"
            )
        if not self._seen:
            self.report.problems.append(f"no line has the hash {self._known}: the log was cut off or written anew")
        return self.report
