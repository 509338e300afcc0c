"""The judge of a large run, at one byte for each message.

A body is the run's name, padding, the number of its queue and its number in that queue: so nothing has to be kept of a
message but what happened to it. Knows neither requests nor time: whoever lets a visibility timeout end says so.
"""

from array import array
from hashlib import md5

ACKNOWLEDGED, DELIVERED, HELD, DELETED, FIRST_OF_GROUP, DUE_TOGETHER = 1, 2, 4, 8, 16, 32
NO_LONGER_HELD = bytes(state & ~(HELD | DUE_TOGETHER) if state & DUE_TOGETHER else state for state in range(256))
QUEUE_DIGITS, NUMBER_DIGITS = 6, 7
DIGITS = QUEUE_DIGITS + 1 + NUMBER_DIGITS
Key = tuple[int, int]
"""A queue's number and a message's number in it."""


class ScaleLedger:
    def __init__(self, run: str, queues: int, size: int) -> None:
        self.run = run
        self._before = f"{run}-{'x' * max(0, size - len(run) - 1 - DIGITS)}"
        self._start = self._before.encode()
        self._md5 = md5(self._start, usedforsecurity=False)
        self._states = [bytearray() for _ in range(queues)]
        self._latest = array("q", [-1]) * queues
        self._acknowledged, self._deleted, self.due_together = (array("q", [0]) * queues for _ in range(3))
        self.held = array("q", [0]) * queues
        self.sent = self.received = self.deleted = self.visible_again = self.empty = 0
        self.duplicates = self.came_back = self.damaged = self.out_of_order = self.standard_out_of_order = 0

    # Sending

    def next(self, queue: int, count: int) -> range:
        """Numbers for so many messages, which are one group where the queue has groups."""
        states = self._states[queue]
        first = len(states)
        states.append(FIRST_OF_GROUP)
        states.extend(bytes(count - 1))
        return range(first, first + count)

    def body(self, queue: int, number: int) -> bytes:
        return b"%b%06d-%07d" % (self._start, queue, number)

    def md5_of(self, queue: int, number: int) -> str:
        digest = self._md5.copy()
        digest.update(b"%06d-%07d" % (queue, number))
        return digest.hexdigest()

    def acknowledge(self, queue: int, number: int) -> None:
        self._states[queue][number] |= ACKNOWLEDGED
        self._acknowledged[queue] += 1
        self.sent += 1

    # Receiving

    def receive(self, queue: int, body: str, *, fifo: bool = False, due_together: bool = False) -> int:
        """The number of a message that came from this queue; -1 if it was never sent to it."""
        number = self._number(queue, body)
        if number < 0:
            self.damaged += 1
            return -1
        states = self._states[queue]
        state = states[number]
        if state & DELETED:
            self.came_back += 1
            return number
        self.received += 1
        if state & HELD:
            self.duplicates += 1
        else:
            self.held[queue] += 1
            if fifo:
                self.out_of_order += self._overtakes(states, number)
            elif not state & DELIVERED and number < self._latest[queue]:
                self.standard_out_of_order += 1
        self._latest[queue] = max(number, self._latest[queue])
        states[number] = state | DELIVERED | HELD | (DUE_TOGETHER if due_together else 0)
        self.due_together[queue] += due_together
        return number

    def _number(self, queue: int, body: str) -> int:
        digits = body[-NUMBER_DIGITS:]
        if body[:-DIGITS] != self._before or not digits.isdigit() or body[-DIGITS:-NUMBER_DIGITS] != f"{queue:06d}-":
            return -1
        number = int(digits)
        return number if number < len(self._states[queue]) else -1

    @staticmethod
    def _overtakes(states: bytearray, number: int) -> bool:
        """Whether an earlier message of the group is still to be delivered."""
        while not states[number] & FIRST_OF_GROUP:
            number -= 1
            if states[number] & ACKNOWLEDGED and not states[number] & (HELD | DELETED):
                return True
        return False

    def release(self, queue: int, number: int) -> None:
        """Its visibility timeout is about to be set to zero."""
        if self._states[queue][number] & HELD:
            self._states[queue][number] &= ~HELD
            self.held[queue] -= 1
            self.visible_again += 1

    def release_due(self) -> int:
        """The moment has come at which everything received with `due_together` may be delivered again."""
        released = sum(self.due_together)
        for queue, count in enumerate(self.due_together):
            if count:
                self._states[queue] = self._states[queue].translate(NO_LONGER_HELD)
                self.held[queue] -= count
                self.due_together[queue] = 0
        self.visible_again += released
        return released

    def delete(self, queue: int, number: int) -> None:
        state = self._states[queue][number] if number >= 0 else DELETED
        if state & DELETED:
            return
        self.held[queue] -= bool(state & HELD)
        self._states[queue][number] = (state | DELETED) & ~HELD
        if not state & ACKNOWLEDGED:  # a send whose reply a kill has cut off was done after all
            self.acknowledge(queue, number)
        self._deleted[queue] += 1
        self.deleted += 1

    # What must be there

    def stored(self, queue: int) -> int:
        """Acknowledged and not deleted."""
        return self._acknowledged[queue] - self._deleted[queue]

    def uncertain(self, queue: int) -> int:
        """Sent and not answered: they may be there or not."""
        return len(self._states[queue]) - self._acknowledged[queue]

    def visible(self, queue: int) -> int:
        return self.stored(queue) - self.held[queue]
