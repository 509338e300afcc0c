"""Message groups: which may be handed out next, on FIFO queues and on fair standard queues.

One row per group with messages in it. Its `available` column is kept equal to what the group's messages say: on a
FIFO queue the time since which the head of the group is ready, on a standard queue the place of its first ready
message, and NULL when there is nothing to hand out. An index on it finds the next group without looking at a message.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

from penstock.core import fairness
from penstock.stores.sqlite.catalogue import IN_FLIGHT, READY, Entry
from penstock.stores.sqlite.database import Database
from penstock.stores.sqlite.statements import listed

_HEAD = """FROM message WHERE shelf=message_group.shelf AND grp=message_group.id AND place IS NOT NULL
    ORDER BY place LIMIT 1"""
_COUNTERS = "messages=messages+?1, ready=ready+?2, in_flight=in_flight+?3"
_UPDATE_FAIR = f"""
    UPDATE message_group SET {_COUNTERS}, (available, head) = (SELECT place, number {_HEAD})
    WHERE id=?4 RETURNING ready, in_flight, last_sent, noisy, name"""


@cache
def _enter_fifo(messages: int) -> str:
    return f"""
        INSERT INTO message_group (shelf, name, last_sent, messages, ready, available, head)
        VALUES {",".join(["(?,?,?,1,?,?,?)"] * messages)}
        ON CONFLICT DO UPDATE SET last_sent=excluded.last_sent, messages=messages+1, ready=ready+excluded.ready,
            available=iif(head IS NULL, excluded.available, available), head=coalesce(head, excluded.head)
        RETURNING name, id, messages"""


@cache
def _update_fifo(groups: int) -> str:
    return f"""
        UPDATE message_group SET {_COUNTERS}, (available, head) =
            (SELECT CASE state WHEN 0 THEN coalesce(shown, enqueued) END, place {_HEAD})
        WHERE id IN {listed(groups)}"""


@cache
def _end(groups: int) -> str:
    return f"DELETE FROM message_group WHERE messages=? AND id IN {listed(groups)}"


@cache
def _block(groups: int) -> str:
    return (
        f"UPDATE message_group SET ready=ready-?1, in_flight=in_flight+?1, available=NULL WHERE id IN {listed(groups)}"
    )


def _by_number(groups: Iterable[int]) -> dict[int, list[int]]:
    """Which of them stand there so often."""
    alike = defaultdict(list)
    for group, number in Counter(groups).items():
        alike[number].append(group)
    return alike


class Groups:
    def __init__(self, db: Database) -> None:
        self._db = db

    def enter(self, entry: Entry, name: str, place: int | None, ready: bool, now: int) -> int:
        """The id of the group that a new message joins."""
        if entry.fifo:
            return self.enter_fifo(entry, [(name, place)], ready, now)[name]
        sent = self._db.execute(
            "UPDATE message_group SET last_sent=? WHERE shelf=? AND name=? RETURNING id", (now, entry.shelf, name)
        ).get
        if sent is not None:
            return int(sent)
        entry.groups += 1
        return int(
            self._db.execute(
                "INSERT INTO message_group (shelf, name, last_sent) VALUES (?,?,?) RETURNING id",
                (entry.shelf, name, now),
            ).get
        )

    def enter_fifo(
        self, entry: Entry, joining: Sequence[tuple[str, int | None]], ready: bool, now: int
    ) -> dict[str, int]:
        """The ids of the groups that new messages join: each has the name of its group, and its place. It is counted
        with that, and is the last of its group: it is the head only if there is none. Whoever puts it before others
        works out the head anew."""
        available = now if ready else None
        rows = [value for name, place in joining for value in (entry.shelf, name, now, ready, available, place)]
        groups = {}
        for name, group, messages in self._db.execute(_enter_fifo(len(joining)), rows):
            groups[name] = group
            entry.groups += messages == 1
        return groups

    def joined(self, entry: Entry, group: int, messages: int, ready: bool, now: int) -> None:
        """New messages in a group of a fair queue, which listens after each of them."""
        for _ in range(messages):
            self.update(entry, [group], now, messages=1, ready=ready)

    def blocked(self, groups: Iterable[int]) -> None:
        """Messages of a FIFO queue were handed out, of these groups, from their heads on: nothing more of a group until
        they are settled."""
        for messages, alike in _by_number(groups).items():
            self._db.execute(_block(len(alike)), (messages, *alike))

    def left(self, entry: Entry, state: int, groups: Iterable[int], now: int) -> None:
        """Messages in this state are gone, of these groups."""
        for messages, alike in _by_number(groups).items():
            ready, in_flight = -messages * (state == READY), -messages * (state == IN_FLIGHT)
            self.update(entry, alike, now, messages=-messages, ready=ready, in_flight=in_flight)

    def update(
        self,
        entry: Entry,
        groups: Sequence[int],
        now: int,
        *,
        messages: int = 0,
        ready: int = 0,
        in_flight: int = 0,
    ) -> None:
        """Count what happened to the messages of each group, and work out anew whether it can be handed out."""
        if messages < 0:
            self._db.execute(_end(len(groups)), (-messages, *groups))
            ended = self._db.changes()
            entry.groups -= ended
            if ended == len(groups):
                return
        if entry.fifo:
            self._db.execute(_update_fifo(len(groups)), (messages, ready, in_flight, *groups))
            return
        for group in groups:
            row = self._db.execute(_UPDATE_FAIR, (messages, ready, in_flight, group)).get
            if row is not None:
                self._listen(entry, group, row, now)

    def calm(self, entry: Entry, now: int) -> None:
        """Noisy groups to which nothing was sent for a while are quiet again."""
        self._db.execute(
            "UPDATE message_group SET noisy=0 WHERE shelf=? AND noisy=1 AND available IS NOT NULL AND last_sent<=?",
            (entry.shelf, now - fairness.QUIET_AFTER_MS),
        )

    def note_work(self, entry: Entry, group: int, received: int | None, until: int) -> None:
        """A delivery is over: how long it took counts towards who is noisy, on standard queues with groups."""
        if received is not None and not entry.fifo:
            name = self._db.execute("SELECT name FROM message_group WHERE id=?", (group,)).get
            entry.work.add(name, until - received, until)

    def _listen(self, entry: Entry, group: int, row: tuple[int, int, int, int, str], now: int) -> None:
        """Is the group a noisy neighbour now, or no longer one?"""
        ready, in_flight, last_sent, noisy, name = row
        if noisy:
            loud = not fairness.calmed(ready, last_sent, now)
        else:
            loud = ready > 0 and (
                fairness.dominates_in_flight(in_flight, entry.counts[1]) or entry.work.dominated_by(name, now)
            )
        if loud != bool(noisy):
            self._db.execute("UPDATE message_group SET noisy=? WHERE id=?", (loud, group))
