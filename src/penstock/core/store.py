"""The Store port: the truth about queues and messages, and the only thing a backend implements.

Every method is one atomic change. When its coroutine returns, the change MUST be as durable as the
store's `Capabilities` declare; when it raises, nothing MUST have changed. `now` is epoch milliseconds and never
decreases from call to call.

A store decides when a message is visible, to whom it is handed and when it dies. It refuses to know what a valid
request is: names, sizes, characters and attribute values have been checked before it is called.

States of a message: DELAYED → READY → IN FLIGHT → (READY | deleted | dead-lettered); any → expired, purged.
A message becomes ready by time alone: at `now` equal to its due time or later it MUST be receivable by a call made
with that `now`, whether or not `sweep` ran. (Of thousands that become due, expire or die at the same moment, a store
MAY deal with a part in each call, as long as none is handed out that should not be.)

The rules every store follows:

* **Standard queues** hand out messages by the time since which they have been visible, so a message that keeps
  failing goes to the back. With groups on messages, quiet groups come before noisy ones (`core.fairness`).
* **FIFO queues** hand out, group by group, the longest prefix of a group that is ready: a hidden message hides all that
  follow it in its group. Groups come in the order in which their heads became ready.
* **Redrive**: a message that has been received `max_receives` times and is about to be handed out again is moved to
  its dead-letter queue instead, within the same change. It keeps its id, body, attributes, sent time and receive
  count and records its source. On a standard queue it keeps its enqueue time; on a FIFO queue it gets a new one and its
  deduplication id becomes its message id. If the dead-letter queue does not exist the message is handed out as usual.
* **Fencing**: a claim stands for one delivery. Once the message has been delivered again the older claim never deletes.
* **Retention** counts from the enqueue time with the queue's present setting; an expired message is never handed out.
* **The journal**: while one is attached, a change puts its events (`core.outbox` says which) into the same commit, as
  one blob of lines, and hands the very same bytes to the journal once they are durable. `by` is the ARN of whoever
  asked for a change, for the journal alone.
* **Traffic**: what a change sends, receives or deletes is counted in `traffic` by the `now` of its call, once it is
  committed, with a journal or without one.
* **Deduplication** (FIFO): within five minutes of the first accepted send, another with the same id (in the queue,
  or in the group if the queue says so) stores nothing. It outlives the message, but not a purge.
* **Encryption**: with keys attached, a message is stored encrypted as its queue says at that moment, with a data key of
  that queue; a store that does not claim `encrypts` MAY ignore it. A change that needs a key which refuses raises
  KeyRefused. A message is never given up because a key cannot be used.
* **Purge** forgets messages in every state, deduplication ids, and receive attempts.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any, Protocol

import msgspec

from penstock.core.directory import Record, RecordKey
from penstock.core.journal import Batch, Event, Journal
from penstock.core.keyring import Keyring
from penstock.core.message import Message, NewMessage, Sent
from penstock.core.move import MoveTask
from penstock.core.queue import Counts, Queue, QueueKey
from penstock.core.series import Metrics, Window
from penstock.core.traffic import Traffic

DEDUPLICATION_MS = 300_000
ATTEMPT_MS = 300_000
LONGEST_VISIBILITY_MS = 43_200_000


@dataclass(frozen=True)
class Capabilities:
    """What a store claims; the zero value claims nothing. Tests excuse a store only by these."""

    durable: bool = False
    """A change survives the death of the process and of the machine once its call has returned."""
    backup: bool = False
    """`backup` writes a file from which a store can be opened."""
    journal: bool = False
    """Every change makes its events (`core.outbox`), and commits them with itself."""
    encrypts: bool = False
    """What a message says lies nowhere in clear, if its queue is to be encrypted (`Queue.encrypted_by`)."""


class Outcome(Enum):
    """What became of a delete or a change of visibility."""

    DONE = auto()
    GONE = auto()
    """There is no such message (any more)."""
    SUPERSEDED = auto()
    """The message was delivered again since; nothing was done (delete on a standard queue)."""
    EXPIRED = auto()
    """The delivery is over; nothing was done (delete on a FIFO queue)."""
    VISIBLE = auto()
    """The message is already visible; nothing was done (change of visibility)."""
    TOO_LONG = auto()
    """The message would have been hidden for over twelve hours since it was received."""


class Receive(msgspec.Struct, frozen=True):
    """One request for messages. `in_flight_limit` is the most a queue may have in flight afterwards."""

    limit: int
    visibility_seconds: int
    attempt_id: str | None = None
    in_flight_limit: int = 120_000


class StoreError(Exception):
    """The store cannot be opened, copied or restored; the message says why and what to do."""


class RecordsChanged(Exception):
    """Records are not what they were when the change was decided; read them again."""


class TooManyInFlight(Exception):
    """A standard queue is at its in-flight limit (a FIFO queue just hands out nothing)."""


class Round(msgspec.Struct, frozen=True):
    """What parties are carried out and answered with at once. More may come on the `lane` meanwhile. `wall` is the
    system's time, for signatures; `version` is that of the directory of identities. `date` is a line of the replies. At
    the queues in `watched` somebody waits for a message, who must be told before its sender is; those who wait at the
    queues in `called` were called for that: they are the receivers `waiting`, each a party."""

    lane: Any
    now: int
    wall: int
    version: int
    handle_key: bytes
    date: bytes
    watched: Mapping[int, object] = {}
    called: Set[int] = set()
    waiting: Sequence[Any] = []


Served = tuple[Sequence[Any], Sequence[tuple[Any, int]]]
"""Parties that are left, and for each of the others who they are, and how many of them were answered. Nothing is said
of those who were waiting: who of them was answered is a party no more."""

Listener = Callable[[int, int, int], bool]
"""`listener(queue_id, at, messages)`: that many messages of that queue, or more, can be received from `at` on (maybe
already): as many receivers may find one each. It says whether any comes to look right now: a store that commits calls
together MAY wait for it."""


class Party(Protocol):
    """Plain requests that ask for the same, gathered by native code (`penstock.native`): how many there are. The
    messages that they bring have no attributes and no delay of their own."""

    def __len__(self) -> int: ...

    def sizes(self) -> list[int]:
        """Of the messages."""

    def named(self) -> tuple[int, int]:
        """Of how many messages a group is named, and of how many a deduplication id."""

    def messages(self, make: type[NewMessage], sender: str, deduplicates: bool) -> list[NewMessage]:
        """Those who deduplicate need an id of every message: if it brings none, it is the hash of its body."""

    def claims(self) -> list[bytes]:
        """Of those who delete."""


class Store(Protocol):
    capabilities: Capabilities
    traffic: Traffic
    """Counted from nothing by every store that is made; nothing of it is stored."""
    windows_keep_days: int
    """How long windows that were put here stay (`core.series.kept_from`). Whoever opens the store may set it."""

    async def open(self) -> None: ...

    async def close(self) -> None:
        """Finish what was accepted and let go of every resource. MAY be called twice."""

    def subscribe(self, listener: Listener) -> None:
        """Call `listener` whenever messages become, or will become, receivable. It MUST be called no later than
        the call that made them so returns, and MAY be called when nothing can be received after all."""

    def observe_commits(self, observer: Callable[[int, float], None]) -> None:
        """MAY call `observer` with the number of changes and the seconds of every commit."""

    def expect(self, calls: int) -> None:
        """So many calls come now, one right after the other: a store that commits them together MAY use that."""

    def trouble(self) -> str | None:
        """Why changes cannot be taken at the moment, if so."""

    def known_time(self) -> int:
        """The latest `now` that the store was given before it was opened, as far as it remembers; 0 if it does not."""

    async def keep(self, name: str, value: bytes) -> bytes:
        """Remember `value` under `name` unless something is kept there; return what is kept."""

    async def put(self, name: str, value: bytes) -> None:
        """Remember `value` under `name`, whatever is kept there."""

    # Records: the small things that are not queues (`core.directory`), few enough to be held in memory by whoever asks.

    async def records(self) -> tuple[int, Sequence[Record]]:
        """Every record, and the version of them all together: a number that grows with every change of any."""

    async def records_version(self) -> int: ...

    async def change_records(self, version: int, saved: Sequence[Record], removed: Sequence[RecordKey]) -> int:
        """Save some and remove others, and return the new version. MUST raise RecordsChanged, and change nothing,
        unless `version` is the one there is: what the caller decided by may not hold any more."""

    # Encryption. A store that keeps nothing MAY ignore both.

    def attach_keys(self, keyring: Keyring) -> None:
        """Encrypt from now on. Called at most once, when the store is open and before any change of messages. MUST
        raise StoreError if it has data keys that no master key there is can open."""

    async def reseal(self) -> int:
        """Seal every data key anew, with what seals now: how many there were. Older states of them MUST NOT stay in the
        store's files once it is closed."""

    # The journal. Only if `capabilities.journal`.

    def attach_journal(self, journal: Journal) -> None:
        """Make events from now on. Called at most once, when the store is open and before any change."""

    def journal_seq(self) -> int:
        """The last number given to an event that is durable; 0 if none was."""

    async def outbox_after(self, seq: int, limit: int) -> Sequence[Batch]:
        """Batches, in order, that end after `seq` and that nobody called `published`; at most `limit`."""

    def published(self, seq: int) -> None:
        """The journal has every event up to `seq` on disk: the store MAY drop them with its next change."""

    def note(self, event: Event) -> None:
        """An event that is no change: it gets its node and number, and goes with the next commit or with `gauge`."""

    # Queues

    async def create_queue(
        self, key: QueueKey, attributes: dict[str, str], tags: dict[str, str], now: int, *, by: str = ""
    ) -> Queue:
        """MUST return the existing queue, unchanged, if there is one with this key."""

    async def find_queue(self, key: QueueKey) -> Queue | None: ...

    async def queue(self, key: QueueKey) -> Queue:
        """The queue with this key. MUST raise QueueGone if there is none."""

    async def list_queues(
        self, region: str, account: str, prefix: str = "", after: str = "", limit: int = 1000
    ) -> Sequence[Queue]:
        """Queues of one account in one region whose name starts with `prefix` and sorts after `after`, by name."""

    async def list_sources(self, target: Queue, after: str = "", limit: int = 1000) -> Sequence[Queue]:
        """Queues whose redrive policy names `target`, by name."""

    async def count_queues(self, account: str) -> int:
        """How many an account has, in all regions together. Whoever creates a queue under a quota asks: a store that
        is meant to hold many MUST NOT look at each of them."""

    async def all_queues(self) -> Sequence[Queue]:
        """Every queue there is: for gauges and operators, never on the path of a request."""

    async def alter_queue(
        self, queue_id: int, attributes: dict[str, str], tags: dict[str, str], now: int, *, by: str = ""
    ) -> Queue:
        """Replace attributes and tags. A new retention period applies to messages already there; a new delay
        applies to waiting messages of FIFO queues only. `modified` becomes `now` if attributes changed."""

    async def delete_queue(self, queue_id: int, now: int, *, by: str = "") -> None:
        """The queue is gone at once, whatever it holds; its messages MAY be cleared away later."""

    async def deleted_at(self, key: QueueKey) -> int | None:
        """When a queue of this key was last deleted, if within the last two minutes."""

    async def purge_queue(self, queue_id: int, now: int, *, by: str = "") -> None: ...

    async def purged_at(self, queue_id: int) -> int | None: ...

    async def counts(self, queue_id: int, now: int) -> Counts:
        """Exact. The cost MUST NOT grow with the number of messages."""

    async def oldest(self, queue_id: int, now: int) -> int | None:
        """Epoch milliseconds at which the oldest message of the queue was enqueued; None if the queue is empty."""

    async def gauge(self, queue_ids: Sequence[int], now: int, reason: str | None = None) -> None:
        """Sample the exact counts of each of these queues that is there: for `traffic`, and as a GAUGE at this place in
        the journal, if one is attached. Commit them with everything that was noted. With a `reason` it is a statement
        of the journal, and no sample."""

    # Messages. Each raises QueueGone if the queue is not there.

    async def send(
        self, queue_id: int, messages: Sequence[NewMessage], now: int, *, by: str = ""
    ) -> Sequence[Sent]: ...

    async def receive(self, queue_id: int, ask: Receive, now: int, *, by: str = "") -> Sequence[Message]:
        """Hand out up to `ask.limit` messages. Repeating an `attempt_id` within five minutes on a FIFO queue
        returns the same messages and claims, hidden anew, if none of them was deleted or changed since."""

    async def delete(self, queue_id: int, claims: Sequence[bytes], now: int, *, by: str = "") -> Sequence[Outcome]: ...

    # A party is carried out as if its requests had come one after the other. A store MAY do it with native code of its
    # own: then the results are in the party, and None is returned.

    async def send_party(
        self, queue_id: int, party: Party, sender: str, now: int, *, by: str = ""
    ) -> Sequence[Sent] | None: ...

    async def receive_party(
        self, queue_id: int, party: Party, ask: Receive, now: int, *, by: str = ""
    ) -> Sequence[Sequence[Message] | None] | None:
        """What each of them is given; None to whom nothing may be given, because too many are in flight."""

    async def delete_party(
        self, queue_id: int, party: Party, now: int, *, by: str = ""
    ) -> Sequence[Outcome] | None: ...

    # A store MAY also carry out and answer parties without being asked about each of them. Then nobody else is asked
    # about them either: so it is told beforehand who may do what.

    def permit(self, queue: Queue, deed: "str | Receive | None", who: object, version: int, by: str) -> Any:
        """What allows parties to send (in this sender's name), to receive, or to delete, for as long as the queue and
        the directory of identities are what they are. None if there is no such thing."""

    def serve(self, parties: list[Any], round: Round) -> Served | None:
        """None if nothing was done."""

    async def change_visibility(
        self, queue_id: int, changes: Sequence[tuple[bytes, int]], now: int, *, by: str = ""
    ) -> Sequence[Outcome]:
        """Each change is a claim and the seconds, from now, for which the message is to be hidden.
        A superseded claim of a standard queue still counts while its message is in flight."""

    async def peek(self, queue_id: int, limit: int, after: bytes, now: int) -> Sequence[Message]:
        """Messages in every state, oldest first, unchanged; `after` is the `claim` of the last one seen."""

    # Move tasks

    async def add_move(self, task: MoveTask) -> bool:
        """False, and nothing added, if a task of the same source is active."""

    async def find_move(self, task_id: str) -> MoveTask | None: ...

    async def list_moves(self, source_arn: str, limit: int) -> Sequence[MoveTask]:
        """Newest first."""

    async def active_moves(self) -> Sequence[MoveTask]: ...

    async def save_move(self, task: MoveTask) -> None: ...

    async def move(self, task: MoveTask, limit: int, now: int) -> MoveTask:
        """Move up to `limit` ready messages as new messages (new id, sent and enqueue time, no receives)
        and return the task with its progress, saved in the same change. A task whose source holds no more ready
        messages becomes COMPLETED; one with nowhere to put a message, or that was forgotten, becomes FAILED."""

    # Windows of metrics (`core.series`), which others put here. A store only keeps them: queues need not be there, nor
    # stay, and nothing of them is an event.

    async def put_windows(self, windows: Sequence[Window]) -> None:
        """All of them or none. A window of the same queue, period and start takes the place of the one there is."""

    async def windows(
        self, queue: QueueKey, period_seconds: int, start: int, end: int, limit: int = 1000
    ) -> Mapping[int, Metrics]:
        """By start, in order: the first of those that begin at `start` or later and before `end`. What `sweep` has not
        forgotten yet MAY be among them. The cost MUST NOT grow with what else is kept."""

    async def queues_with_windows(
        self, region: str, account: str, since: int, after: str = "", limit: int = 1000
    ) -> Sequence[str]:
        """Names, in order, of queues of which a window is kept that begins at `since` or later."""

    # Upkeep

    async def forget_account(self, account: str) -> None:
        """What outlives the queues of an account is not seen any more: its windows, its counters in `traffic`, its move
        tasks. It MAY be cleared away later."""

    async def sweep(self, now: int) -> int:
        """Do a small, bounded part of what is due (messages to make ready, to expire, to clear away, windows to
        forget) and return when to call again; a value not after `now` means there is more to do at once."""

    async def backup(self, path: Path) -> None:
        """Write a consistent copy while the store is in use."""
