"""What must be true of a database file at rest, whoever was killed while writing it (I18).

Each check is a query that finds nothing, or a PRAGMA that says "ok". The file is copied first: looking at a database
whose server was killed would do the recovery that the server's next start is to do.
"""

import shutil
from contextlib import closing
from itertools import islice
from pathlib import Path

import apsw
import msgspec

from penstock.stores.sqlite.tally import COUNTERS

CHECKS = {
    "a queue's counters are not what its shelf holds": """
        SELECT name, ready, in_flight, delayed, bytes, held.* FROM queue LEFT JOIN (
            SELECT shelf, sum(state=0) AS is_ready, sum(state=1) AS is_in_flight, sum(state=2) AS is_delayed,
                sum(size) AS held FROM message GROUP BY shelf
        ) AS held USING (shelf)
        WHERE (ready, in_flight, delayed, bytes) IS NOT
            (coalesce(is_ready, 0), coalesce(is_in_flight, 0), coalesce(is_delayed, 0), coalesce(held, 0))""",
    "a queue's number of groups is wrong": """
        SELECT name, groups FROM queue
        WHERE groups != (SELECT count(*) FROM message_group WHERE message_group.shelf = queue.shelf)""",
    "a message has no content": """
        SELECT number FROM message WHERE (content IS NULL) != (number IN (SELECT number FROM bulk))""",
    "a content has no message": "SELECT number FROM bulk WHERE number NOT IN (SELECT number FROM message)",
    "a message lies on a shelf that is nobody's": """
        SELECT shelf, count(*) FROM message WHERE shelf NOT IN (SELECT shelf FROM queue UNION SELECT shelf FROM litter)
        GROUP BY shelf""",
    "a shelf is both in use and litter": "SELECT shelf FROM queue JOIN litter USING (shelf)",
    "a message that is ready stands in no line": """
        SELECT number FROM message JOIN queue USING (shelf)
        WHERE state = 0 AND place IS NULL
            AND (grp != 0 OR coalesce(number < fresh_number, true))""",
    "a message is in no run that is written, though it should be": """
        SELECT shelf, number FROM message AS m
        WHERE number <= (SELECT value FROM keepsake WHERE name = 'runs') AND NOT EXISTS (
            SELECT 1 FROM run WHERE run.shelf = m.shelf AND m.number BETWEEN run.first AND run.last)""",
    "two runs of a shelf have the same number": """
        SELECT shelf, first, before FROM (
            SELECT shelf, first, lag(last) OVER (PARTITION BY shelf ORDER BY last) AS before FROM run
        ) WHERE first <= before""",
    "a message that is younger than one behind it is not in the index of ages": """
        SELECT number FROM (
            SELECT number, aged, enqueued, max(enqueued) OVER (PARTITION BY shelf ORDER BY number) AS latest,
                max(aged) OVER (PARTITION BY shelf ORDER BY number) AS follows FROM message
        ) WHERE aged IS NULL AND (enqueued < latest OR follows)""",
    "a state and a due time disagree": """
        SELECT number FROM message JOIN queue USING (shelf)
        WHERE state IN (0, 1, 2) AND (state = 0) != (due IS NULL)""",
    "a group's counters are not what it holds": """
        SELECT name, message_group.messages, message_group.ready, in_flight, held.* FROM message_group LEFT JOIN (
            SELECT grp, count(*) AS n, sum(state=0) AS is_ready, sum(state=1) AS is_in_flight FROM message GROUP BY grp
        ) AS held ON grp = id
        WHERE shelf NOT IN (SELECT shelf FROM litter) AND (messages, ready, in_flight) IS NOT
            (coalesce(n, 0), coalesce(is_ready, 0), coalesce(is_in_flight, 0))""",
    "an empty group is kept": "SELECT name FROM message_group WHERE messages = 0",
    "a message's group is not there": """
        SELECT number FROM message WHERE grp != 0 AND shelf NOT IN (SELECT shelf FROM litter)
            AND grp NOT IN (SELECT id FROM message_group)""",
    "an encrypted content has no data key of its queue": """
        SELECT message.number FROM message JOIN queue USING (shelf) LEFT JOIN bulk ON bulk.number = message.number
        WHERE hex(substr(coalesce(message.content, bulk.content), 1, 1)) = 'C1'
            AND hex(substr(coalesce(message.content, bulk.content), 2, 6)) NOT IN
                (SELECT printf('%012X', data_key.number) FROM data_key WHERE data_key.queue = queue.id)""",
    "a data key is nobody's": "SELECT number FROM data_key WHERE queue NOT IN (SELECT id FROM queue)",
    "a number was given that is not set aside": """
        SELECT max(number) AS highest FROM message
        HAVING highest > (SELECT value FROM keepsake WHERE name = 'numbers')""",
}


def faults_of(database: Path, scratch: Path) -> list[str]:
    """Complaints about a database that nobody has open."""
    copy = copied(database, scratch)
    with closing(apsw.Connection(str(copy))) as connection:
        found = [f"integrity: {row[0]}" for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        found = found or faults_of_rows(connection)  # the rows of a file that is not whole may be anything
    shutil.rmtree(copy.parent)
    return found


def faults_of_rows(connection: apsw.Connection) -> list[str]:
    try:
        settle(connection)
    except (msgspec.DecodeError, TypeError, ValueError) as error:
        return [f"the tally cannot be read: {error}"]
    return [
        f"{complaint}: {row}" for complaint, query in CHECKS.items() for row in islice(connection.execute(query), 5)
    ]


def settle(connection: apsw.Connection) -> None:
    """Counters that are in the tally go to their queues."""
    places = ",".join("?" * len(COUNTERS))
    for queue, counters in tallied(connection).items():
        connection.execute(f"UPDATE queue SET ({', '.join(COUNTERS)})=({places}) WHERE id=?", (*counters, queue))


def tallied(connection: apsw.Connection) -> dict[int, tuple[int | None, ...]]:
    """The counters of queues that are not in the queues' own rows yet, as `COUNTERS` names them."""
    rows = connection.execute("SELECT counters FROM tally ORDER BY number").fetchall()
    return {queue: tuple(counters) for (packed,) in rows for queue, *counters in msgspec.msgpack.decode(packed)}


def copied(database: Path, scratch: Path) -> Path:
    """The database and its log, as they lie there."""
    target = scratch / "copy"
    target.mkdir()
    for file in database.parent.glob(f"{database.name}*"):
        if not file.name.endswith((".lock", "-shm")):
            shutil.copy(file, target)
    return target / database.name
