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
    WHERE id=:id"""
_UPDATE_FAIR = f"""
    UPDATE message_group SET {_COUNTERS}, (available, head) = (SELECT place, number {_HEAD})
    WHERE id=:id RETURNING ready, in_flight, last_sent, noisy, name"""
_ENTER_FIFO = """
    INSERT INTO message_group (shelf, name, last_sent, messages, ready, available, head) VALUES (?,?,?,1,?,?,?)
    ON CONFLICT DO UPDATE SET last_sent=excluded.last_sent, messages=messages+1, ready=ready+excluded.ready,
        available=iif(head IS NULL, excluded.available, available), head=coalesce(head, excluded.head)
    RETURNING id, messages"""


class Groups:
    def __init__(self, db: Database) -> None:
        self._db = db

    def enter(self, entry: Entry, name: str, place: int | None, ready: bool, now: int) -> int:
        """The id of the group that a new message joins. On a FIFO queue it is counted with that, and is the last of its
        group: it is the head only if there is none. Whoever puts it before others works out the head anew."""
        if entry.fifo:
            available = now if ready else None
            group, messages = self._db.execute(_ENTER_FIFO, (entry.shelf, name, now, ready, available, place)).get
            entry.groups += messages == 1
            return int(group)
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
        """New messages in a group of a fair queue, which listens after each of them."""
        for _ in range(messages):
            self.update(entry, group, now, messages=1, ready=ready)

    def blocked(self, group: int, messages: int) -> None:
        """Messages of a FIFO queue's group, from its head on, were handed out: nothing more until they are settled."""
        self._db.execute(
            "UPDATE message_group SET ready=ready-?1, in_flight=in_flight+?1, available=NULL WHERE id=?2",
            (messages, group),
        )

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
        if messages < 0 and self._ended(group, -messages):
            entry.groups -= 1
            return
        bindings = {
            "shelf": entry.shelf, "id": group,
            "messages": messages, "ready": ready, "in_flight": in_flight,
        }  # fmt: skip
        if entry.fifo:
            self._db.execute(_UPDATE_FIFO, bindings)
        else:
            self._listen(entry, group, self._db.execute(_UPDATE_FAIR, bindings).get, now)

    def _ended(self, group: int, messages: int) -> bool:
        """Whether these were the last of the group, which is gone then."""
        self._db.execute("DELETE FROM message_group WHERE id=? AND messages=?", (group, messages))
        return self._db.changed()

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
