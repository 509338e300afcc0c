"""Message groups: which may be handed out next, on FIFO queues and on fair standard queues.

One row per group with messages in it. Its `available` column is kept equal to what the group's messages say: on a
FIFO queue the time since which the head of the group is ready, on a standard queue the place of its first ready
message, and NULL when there is nothing to hand out. An index on it finds the next group without looking at a message.
"""

from penstock.core import fairness
from penstock.stores.sqlite.catalogue import Entry
from penstock.stores.sqlite.database import Database

_HEAD = "FROM message WHERE shelf=:shelf AND grp=:id AND place IS NOT NULL ORDER BY place LIMIT 1"
_COUNTERS = "messages=messages+:messages, ready=ready+:ready, in_flight=in_flight+:in_flight"
_UPDATE_FIFO = f"""
    UPDATE message_group SET {_COUNTERS}, (available, head) =
        (SELECT CASE state WHEN 0 THEN coalesce(shown, enqueued) END, place {_HEAD})
    WHERE id=:id RETURNING messages"""
_UPDATE_FAIR = f"""
    UPDATE message_group SET {_COUNTERS}, (available, head) = (SELECT place, number {_HEAD})
    WHERE id=:id RETURNING messages, ready, in_flight, last_sent, noisy, name"""


class Groups:
    def __init__(self, db: Database) -> None:
        self._db = db

    def enter(self, entry: Entry, name: str, now: int) -> int:
        """The id of the group that a new message joins."""
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

    def joined(self, entry: Entry, group: int, messages: int, ready: bool, now: int) -> None:
        """New messages in a group. A fair queue listens after each of them."""
        each = messages if entry.fifo else 1
        for _ in range(messages // each):
            self.update(entry, group, now, messages=each, ready=each if ready else 0)

    def update(
        self,
        entry: Entry,
        group: int,
        now: int,
        *,
        messages: int = 0,
        ready: int = 0,
        in_flight: int = 0,
    ) -> None:
        """Count what happened to a group's messages, and work out anew whether it can be handed out."""
        bindings = {
            "shelf": entry.shelf, "id": group,
            "messages": messages, "ready": ready, "in_flight": in_flight,
        }  # fmt: skip
        row = self._db.execute(_UPDATE_FIFO if entry.fifo else _UPDATE_FAIR, bindings).get
        left = row if entry.fifo else row[0]
        if left == 0:
            self._db.execute("DELETE FROM message_group WHERE id=?", (group,))
            entry.groups -= 1
        elif not entry.fifo:
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

    def _listen(self, entry: Entry, group: int, row: tuple[int, int, int, int, int, str], now: int) -> None:
        """Is the group a noisy neighbour now, or no longer one?"""
        _, ready, in_flight, last_sent, noisy, name = row
        if noisy:
            loud = not fairness.calmed(ready, last_sent, now)
        else:
            loud = ready > 0 and (
                fairness.dominates_in_flight(in_flight, entry.counts[1]) or entry.work.dominated_by(name, now)
            )
        if loud != bool(noisy):
            self._db.execute("UPDATE message_group SET noisy=? WHERE id=?", (loud, group))
