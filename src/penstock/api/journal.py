"""Operations on the journal, for readers without its disk; and the events that are no change: who was refused, and who
found nothing. A journal holds the messages of every account, so the operations are about the server (`api.rights`).
"""

from penstock.api.call import Call, Operation, Site
from penstock.aws import penstock
from penstock.core.errors import ServiceError, invalid_value
from penstock.core.journal import DENIED, EMPTY_RECEIVE, OFF, Archive, Event, ReaderState, Segment, UnknownReader
from penstock.core.queue import Queue

MOST_BYTES = 1_048_576
LONGEST_WAIT = 20


def note_empty_receive(call: Call, queue: Queue, begun: int) -> None:
    now, journal = call.now(), call.site.journal
    call.site.store.traffic.empty_receive(queue.key, now)
    if journal is not None and (journal.level if queue.journal is None else queue.journal) != OFF:
        by = call.principal.arn
        journal.note(Event("", 0, now, EMPTY_RECEIVE, *queue.key, principal=by, duration_ms=now - begun))


def note_denied(call: Call) -> None:
    """Someone was refused something: who, if they said so, or else from where. Of a flood, most are only counted."""
    if call.site.journal is not None and call.site.denials.admits(call.crowd, call.now()):
        region, account, name = call.resource or (call.region, call.principal.account, None)
        event = Event("", 0, call.now(), DENIED, region, account, name)
        event.principal, event.reason = call.principal.arn or call.principal.user_id, call.action
        call.site.journal.note(event)


def tell_denied(site: Site, now: int) -> None:
    """An event for each account or address of whom refusals were only counted. It names no queue and no action."""
    if site.journal is None:
        return
    for crowd, count in site.denials.take_held().items():
        account = crowd if crowd.isdigit() else site.root_account
        site.journal.note(Event("", 0, now, DENIED, "", account, principal=crowd or None, count=count))


def _journal(call: Call) -> Archive:
    if call.site.journal is None:
        raise ServiceError("UnsupportedOperation", "The server runs without a journal.")
    return call.site.journal


async def list_segments(call: Call, request: penstock.ListJournalSegmentsRequest) -> penstock.ListJournalSegmentsResult:
    journal = _journal(call)
    found = [_segment(segment) for segment in await journal.segments()]
    return penstock.ListJournalSegmentsResult(Node=journal.node, LastSeq=journal.last, Segments=found or None)


def _segment(segment: Segment) -> penstock.JournalSegment:
    return penstock.JournalSegment(
        Node=segment.node,
        FirstSeq=segment.first,
        LastSeq=None if segment.open else segment.last,
        Date=segment.date,
        Bytes=segment.size,
        Name="/".join(segment.path.parts[-3:]),
    )


async def read_journal(call: Call, request: penstock.ReadJournalRequest) -> penstock.ReadJournalResult:
    journal = _journal(call)
    node, seq = request.Node or journal.node, 1 if request.FromSeq is None else request.FromSeq
    most = MOST_BYTES if request.MaxBytes is None else request.MaxBytes
    wait = request.WaitTimeSeconds or 0
    if seq < 1:
        raise invalid_value(seq, "FromSeq", "Must be 1 or more, if provided.")
    if not 1 <= most <= MOST_BYTES:
        raise invalid_value(most, "MaxBytes", f"Must be between 1 and {MOST_BYTES}, if provided.")
    if not 0 <= wait <= LONGEST_WAIT:
        raise invalid_value(wait, "WaitTimeSeconds", f"Must be >= 0 and <= {LONGEST_WAIT}, if provided.")
    await _check_node(journal, node)
    if node == journal.node:
        await journal.wait(seq, wait)
    chunk = await journal.read(node, seq, most, request.Queue or None)
    return penstock.ReadJournalResult(
        Node=node, FirstSeq=chunk.first, NextSeq=chunk.next, More=chunk.more, Lines=chunk.lines
    )


async def _check_node(journal: Archive, node: str) -> None:
    if node != journal.node and node not in {segment.node for segment in await journal.segments()}:
        raise ServiceError("ResourceNotFoundException", f"There is no node {node} in the journal.")


async def register_reader(call: Call, request: penstock.RegisterJournalReaderRequest) -> penstock.JournalReader:
    journal = _journal(call)
    return _reader(journal, await journal.register(request.ReaderName, call.now()))


async def commit_reader(call: Call, request: penstock.CommitJournalReaderRequest) -> penstock.JournalReader:
    journal = _journal(call)
    node = request.Node or journal.node
    await _check_node(journal, node)
    if request.Seq < 0 or (node == journal.node and request.Seq > journal.last):
        raise invalid_value(request.Seq, "Seq", f"Must be the number of an event: at most {journal.last}.")
    try:
        return _reader(journal, await journal.commit(request.ReaderName, node, request.Seq))
    except UnknownReader:
        raise _no_reader(request.ReaderName) from None


async def list_readers(call: Call, request: penstock.ListJournalReadersRequest) -> penstock.ListJournalReadersResult:
    journal = _journal(call)
    found = [_reader(journal, state) for state in await journal.readers()]
    return penstock.ListJournalReadersResult(Readers=found or None)


async def remove_reader(call: Call, request: penstock.RemoveJournalReaderRequest) -> None:
    try:
        await _journal(call).unregister(request.ReaderName)
    except UnknownReader:
        raise _no_reader(request.ReaderName) from None


def _reader(journal: Archive, state: ReaderState) -> penstock.JournalReader:
    return penstock.JournalReader(
        ReaderName=state.name,
        RegisteredTimestamp=state.registered,
        Committed=state.committed or None,
        Lag=journal.last - state.committed.get(journal.node, 0),
    )


def _no_reader(name: str) -> ServiceError:
    return ServiceError("ResourceNotFoundException", f"There is no reader {name} of the journal.")


OPERATIONS: dict[str, Operation] = {
    "ListJournalSegments": list_segments,
    "ReadJournal": read_journal,
    "RegisterJournalReader": register_reader,
    "CommitJournalReader": commit_reader,
    "ListJournalReaders": list_readers,
    "RemoveJournalReader": remove_reader,
}
