"""The express way: requests that ask for the same, recognised in native code, are let in and carried out together.

`native/` reads connections whose heads are known, checks every signature and gathers plain requests into parties. Here
a party is served as the gateway would serve each of its members, with the same rules of the same modules: who calls,
whether they may, what the queue wants, what the store does. Whatever does not go smoothly is bounced: each member's
request comes to the gateway as it was sent, which finds the reason and the words. So nothing is refused here.

Nothing may be bounced once it is done: from the store's answer on nothing is raised that is meant for anybody.

A receiver for whom there was nothing among others is served once more alone, and then waits if it may.
"""

from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from functools import partial
from time import perf_counter
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from penstock.api.access import Access, Caller
from penstock.api.acquaintance import Acquaintance
from penstock.api.authorise import Authorise, holds_for_all
from penstock.api.call import Call, Site
from penstock.api.journal import note_empty_receive
from penstock.api.resources import LONGEST_REMEMBERED, queue_at
from penstock.api.sqs.receiving import ask_of, check, seconds_to_wait, waited_for
from penstock.api.sqs.sending import sequence_number
from penstock.api.waiting import Place
from penstock.aws import sqs
from penstock.aws.claim import TERMINATOR, signing_key
from penstock.aws.http import Headers, HttpRequest
from penstock.core.errors import QueueGone, ServiceError, Unavailable
from penstock.core.identifiers import random_uuid
from penstock.core.keyring import KeyRefused
from penstock.core.message import Sent
from penstock.core.queue import Queue
from penstock.core.store import Outcome, Receive, Round

if TYPE_CHECKING:
    from penstock.native import Form, Lane, Party

log = structlog.get_logger("penstock")

Answer = Callable[[bytes], int]
"""Sends the replies, given the line that says the date. How many: who is not answered here has been bounced."""

Who = tuple[Acquaintance, str, str]
"""Heads alike, a queue's URL and an address: what those have in common who are let in together."""
MOST_REMEMBERED = 10_000


class Bounced(Exception):
    """The gateway is to look at each of them."""


REASONS = (Bounced, KeyRefused, QueueGone, ServiceError, Unavailable)


class Likeness(Protocol):
    """Of heads that differ in a few values (`listeners/http_likeness.py`). `holes` say where these are."""

    head: bytes
    headers: Headers
    holes: list[tuple[str, int, int]]
    lesson: Any
    form: Any


class Express:
    """`native` is the compiled module; `record` writes down how a call went."""

    def __init__(
        self,
        site: Site,
        access: Access,
        authorise: Authorise,
        record: Callable[[Call, float, int], None],
        native: ModuleType,
    ) -> None:
        self._site, self._access, self._authorise, self._record, self._native = site, access, authorise, record, native
        self.wall, self.expect = site.clock.wall, site.store.expect
        self.answered = self.at_once = 0
        """Requests, since the start; and those among them that were not looked at, because others like them were."""
        self._let_in_before: dict[Who, Call] = {}

    def lane(self, longest_body: int) -> "Lane":
        lane: Lane = self._native.Lane(longest_body, self._site.limits.max_batch_bytes // 3)
        return lane

    def form_of(self, like: Likeness) -> "Form | None":
        """What recognises heads like this one; None if they do not go this way."""
        known: Acquaintance = like.lesson
        if known.asked is None or known.key is None or known.key.principal.session is not None:
            return None
        if like.form is None or like.form.key is not known.key:
            operation, headers = known.asked[1].name, like.headers
            if operation in SERVED and b"x-amz-target" in headers and b"x-amzn-trace-id" not in headers:
                like.form = self._made(like, known, operation)
        form: Form | None = like.form
        return form

    def _made(self, like: Likeness, known: Acquaintance, operation: str) -> "Form":
        known.headers = like.headers
        claim, (opening, rest) = known.familiar.claim, known.familiar.parts()
        key = signing_key(known.key.secret, claim.date, claim.region, claim.service)
        scope = f"{claim.date}/{claim.region}/{claim.service}/{TERMINATOR}"
        form: Form = self._native.Form(operation, like.head, like.holes, opening, rest, scope, key, known.key, known)
        return form

    def serve_known(self, parties: "list[Party]", lane: "Lane", date: Callable[[], bytes]) -> "Sequence[Party]":
        """Those whose like were let in before, if nothing has changed by which they were: at once, and by native code
        alone. The others are left."""
        site, started = self._site, perf_counter()
        if self._access.wary or (called := self._called(parties)) is None:
            return parties
        done = site.store.serve(parties, self._round(lane, date(), called))
        if done is None:
            site.room.keep_waiting(called)
            return parties
        left, told = done
        self._note(told, perf_counter() - started)
        for places in called.values():
            site.room.dismiss(places)
        return left

    def _round(self, lane: "Lane", date: bytes, called: dict[int, list[Place]]) -> Round:
        site, waiting = self._site, []
        for places in called.values():
            for _, _, receiver in places:
                receiver.stir()
                waiting.append(receiver)
        now, version, watched = site.clock.now(), site.identities.version, site.room.lines
        return Round(lane, now, self.wall(), version, site.handle_key, date, watched, {*called}, waiting)

    def _called(self, parties: "list[Party]") -> dict[int, list[Place]] | None:
        """Who waits for what these send, by queue; None if somebody does who is to be told in the ordinary way."""
        room, version = self._site.room, self._site.identities.version
        called: dict[int, list[Place]] = {}
        for party in parties if room.lines else ():
            queue_id = party.sends_to(version)
            if queue_id is None or queue_id not in room.lines:
                continue
            places = None if queue_id in called else room.call(queue_id, len(party.sizes()))
            if places is None:
                room.keep_waiting(called)
                return None
            called[queue_id] = places
        return called

    def _note(self, told: "Sequence[tuple[Any, int]]", seconds: float) -> None:
        now = self.wall()
        for (call, claim), answered in told:
            call.id = random_uuid()
            self._access.note_use(claim, now)
            self.answered += answered
            self.at_once += answered
            self._record(call, seconds, answered)

    async def serve(self, party: "Party", date: Callable[[], bytes]) -> "Sequence[Party]":
        """Those who are still to be served, each of them alone."""
        started = perf_counter()
        try:
            call = await self._let_in(party)
            answer = await SERVED[call.action](call, party)
        except REASONS:
            party.bounce()
            return ()
        except Exception as error:  # each of them will meet it again, and say so to its own client
            log.error("failed", action=party.operation, exc_info=error)
            party.bounce()
            return ()
        answered = answer(date())
        self.answered += answered
        self._record(call, perf_counter() - started, answered)
        _grant(call, party)
        return party.apart() if len(party) else ()

    async def _let_in(self, party: "Party") -> Call:
        """What stands for all of them: they differ in nothing that is asked of it. It serves for the next such party as
        well, as long as nothing has changed by which it was let in."""
        who = party.lesson, party.queue_url, party.peer
        earlier = self._let_in_before.get(who)
        call = self._stamped(earlier or self._call(party))
        caller = self._access.vouched(party.lesson, party.key, call.http, call.arrived)
        if caller is None:
            raise Bounced
        if earlier is not None:
            if await self._still_holds(earlier, caller):
                return earlier
            call = self._stamped(self._call(party))
        call.principal, call.region, call.access_key = caller.principal, caller.region, caller.access_key
        call.resource = queue_at(party.queue_url, call.region, call.principal.account)
        await self._authorise(call)
        call.lasting = holds_for_all(call) and len(party.queue_url) <= LONGEST_REMEMBERED
        if call.lasting:
            self._remember(who, call)
        return call

    async def _readmit(self, call: Call) -> None:
        """For a receiver who has waited: its key may be gone since, or what it may do."""
        call.request.stir()
        again = await self._let_in(call.request)
        call.principal, call.found = again.principal, again.found

    async def _still_holds(self, earlier: Call, caller: Caller) -> bool:
        site, key = self._site, earlier.resource
        if earlier.version != site.identities.version or earlier.principal is not caller.principal or key is None:
            return False
        return await site.store.find_queue(key) is earlier.found

    def _stamped(self, call: Call) -> Call:
        clock = self._site.clock
        call.id, call.arrived, call.moment = random_uuid(), clock.wall(), clock.now()
        return call

    def _call(self, party: "Party") -> Call:
        site, known = self._site, party.lesson
        call = Call(site, HttpRequest("POST", b"/", known.headers, b"", party.peer, False), "")
        call.version = site.identities.version
        call.service, call.operation, call.run, call.right = known.asked
        call.readmit = self._readmit
        call.action = call.operation.name
        return call

    def _remember(self, who: Who, call: Call) -> None:
        if len(self._let_in_before) >= MOST_REMEMBERED:
            self._let_in_before.clear()
        self._let_in_before[who] = call


def _grant(call: Call, party: "Party") -> None:
    """Whoever is like them need not be let in again for as long as nothing changes, if that is so."""
    queue = call.queue()
    if not call.lasting or party.is_granted(call.version):
        return
    deed: str | Receive | None = None
    if call.action == "ReceiveMessage":
        deed = ask_of(call, queue, _asked(party))
    elif call.action.startswith("Send"):
        deed = call.principal.user_id
    who = call, party.lesson.familiar.claim
    if permit := call.site.store.permit(queue, deed, who, call.version, call.principal.arn):
        party.grant(permit)


def _park(call: Call, party: "Party") -> "Party | None":
    """It is going to wait. What is granted to it also says what it is to be given."""
    party.park()
    _grant(call, party)
    return party if party.is_granted(call.version) else None


def _asked(party: "Party") -> sqs.ReceiveMessageRequest:
    return sqs.ReceiveMessageRequest(
        QueueUrl=party.queue_url,
        MaxNumberOfMessages=party.most,
        VisibilityTimeout=party.visibility,
        WaitTimeSeconds=party.wait,
    )


async def _send(call: Call, party: "Party") -> Answer:
    queue, sizes, (grouped, deduplicated) = call.readable_queue(), party.sizes(), party.named()
    if max(sizes) > queue.maximum_message_size:
        raise Bounced
    if queue.fifo:
        if grouped < len(sizes) or (deduplicated < len(sizes) and not queue.content_deduplication):
            raise Bounced
    elif deduplicated:
        raise Bounced
    who = call.principal
    sent = await call.site.store.send_party(queue.id, party, who.user_id, call.moment, by=who.arn)
    return lambda date: party.acknowledge(date, None if sent is None else [_told(one) for one in sent])


def _told(sent: Sent) -> tuple[str, str | None]:
    return sent.id, None if sent.sequence is None else sequence_number(sent.sequence)


async def _receive(call: Call, party: "Party") -> Answer:
    queue, site, request = call.readable_queue(), call.site, _asked(party)
    check(call, queue, request)
    wait, alone = seconds_to_wait(queue, party.wait), len(party) == 1
    if alone:
        call = copy(call)  # for as long as this one waits, others are let in by the same
        call.request = party

    async def look(queue: Queue, now: int) -> Answer | None:
        if not len(party):
            return _who_was_called
        ask = ask_of(call, queue, request)
        given = await site.store.receive_party(queue.id, party, ask, now, by=call.principal.arn)
        if given is None:
            return lambda date: party.hand_out(date, site.handle_key, queue.id, None)
        if any(given):
            return lambda date: party.hand_out(date, site.handle_key, queue.id, [one or () for one in given])
        if alone and not wait and None in given:
            raise Bounced  # too many are in flight
        return None

    if not alone:
        return await look(queue, call.moment) or _to_nobody
    answer = await waited_for(call, queue, wait, look, partial(_park, call, party))
    if answer is None:
        note_empty_receive(call, queue, call.moment)
        return party.send_away
    return answer


def _to_nobody(date: bytes) -> int:
    return 0


def _who_was_called(date: bytes) -> int:
    """It has its answer already."""
    return 1


async def _delete(call: Call, party: "Party") -> Answer:
    queue = call.queue()
    if queue.fifo and call.action == "DeleteMessageBatch":
        raise Bounced  # an entry that fails among others is told of, and must not be tried again after them
    if not party.open_handles(call.site.handle_key, queue.id):
        raise Bounced
    outcomes = await call.site.store.delete_party(queue.id, party, call.moment, by=call.principal.arn)
    refused = None if outcomes is None else [outcome is Outcome.EXPIRED for outcome in outcomes]
    return lambda date: party.settle(date, refused)


SERVED: dict[str, Callable[[Call, "Party"], Awaitable[Answer]]] = {
    "SendMessage": _send,
    "SendMessageBatch": _send,
    "ReceiveMessage": _receive,
    "DeleteMessage": _delete,
    "DeleteMessageBatch": _delete,
}
