"""The judge of a run: what was sent, what came back, and what the protocol does not allow.

Every message has a number. Its body is the run's name, padding and that number, so a body tells which message it is
and whether it is whole. The ledger sees each acknowledgement and each delivery; queues of a run have a visibility
timeout longer than the run, so a second delivery is always one too many.
"""

from collections import deque
from hashlib import md5

DIGITS = 12
ACKNOWLEDGED, RECEIVED, DELETED = 1, 2, 4


class Ledger:
    def __init__(self, run: str, size: int) -> None:
        """`size` is in bytes; a body is never shorter than the run's name, a dash and its number."""
        self.run = run
        self._before = f"{run}-{'x' * max(0, size - len(run) - 1 - DIGITS)}"
        self.before = self._before.encode()
        self._md5 = md5(self.before, usedforsecurity=False)
        self._states = bytearray()
        self.sent = self.acknowledged = self.received = self.deleted = 0
        self.duplicates = self.came_back = self.damaged = self.empty = 0

    def next_body(self) -> tuple[int, bytes]:
        number = self.sent
        self.sent += 1
        self._states.append(0)
        return number, b"%b%012d" % (self.before, number)

    def md5_of(self, number: int) -> str:
        digest = self._md5.copy()
        digest.update(b"%012d" % number)
        return digest.hexdigest()

    def acknowledge(self, number: int) -> None:
        self._states[number] |= ACKNOWLEDGED
        self.acknowledged += 1

    def receive(self, body: str) -> int:
        """The number of the message, or -1 if it is none that was sent."""
        digits = body[-DIGITS:]
        if body[:-DIGITS] != self._before or not digits.isdigit() or (number := int(digits)) >= self.sent:
            self.damaged += 1
            return -1
        state = self._states[number]
        if state & DELETED:
            self.came_back += 1
        elif state & RECEIVED:
            self.duplicates += 1
        else:
            self.received += 1
        self._states[number] = state | RECEIVED
        return number

    def release(self, number: int) -> None:
        """Its delete is about to be sent. Only order in groups makes something of it."""

    def delete(self, number: int) -> None:
        if number >= 0 and not self._states[number] & DELETED:
            self._states[number] |= DELETED
            self.deleted += 1

    @property
    def outstanding(self) -> int:
        """Acknowledged and not yet received: what a drain has to find."""
        return self._states.count(ACKNOWLEDGED)

    def verdict(self, unaccounted: int) -> dict[str, int]:
        return {
            "lost": unaccounted,
            "duplicates": self.duplicates,
            "came back after delete": self.came_back,
            "damaged or foreign": self.damaged,
        }


class GroupLedger(Ledger):
    """Also judges FIFO: the messages of a group come in the order in which they were acknowledged, and none while an
    earlier one is held. Each group has one sender, so that order is known."""

    def __init__(self, run: str, size: int, groups: int) -> None:
        super().__init__(run, size)
        self._group_of: list[int] = []
        self._expected: list[deque[int]] = [deque() for _ in range(groups)]
        self._held = bytearray(groups)
        self.out_of_order = self.locks_broken = 0

    def next_body_of(self, group: int) -> tuple[int, bytes]:
        """For a message that is sent at once: from now on it may arrive."""
        self._group_of.append(group)
        self._expected[group].append(self.sent)
        return self.next_body()

    def receive(self, body: str) -> int:
        number = super().receive(body)
        if number >= 0:
            group = self._group_of[number]
            self.locks_broken += self._held[group]
            self._held[group] = 1
            expected = self._expected[group]
            if expected and expected[0] == number:
                expected.popleft()
            else:
                self.out_of_order += 1
                if number in expected:
                    expected.remove(number)
        return number

    def release(self, number: int) -> None:
        """The delete is about to be sent: from now on the next of the group may arrive."""
        if number >= 0:
            self._held[self._group_of[number]] = 0

    def verdict(self, unaccounted: int) -> dict[str, int]:
        more = {"out of order": self.out_of_order, "group locks broken": self.locks_broken}
        return super().verdict(unaccounted) | more
