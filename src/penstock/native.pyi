# What `native/` holds, compiled: see `native/src/lib.rs`. Without it everything is served by Python.

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

class Form:
    key: Any
    def __init__(
        self,
        operation: str,
        head: bytes,
        holes: Sequence[tuple[str, int, int]],
        opening: Sequence[bytes | str],
        rest: Sequence[bytes | str],
        scope: str,
        signing_key: bytes,
        key: Any,
        lesson: Any,
    ) -> None: ...

class Party:
    peer: str
    queue_url: str
    most: int | None
    visibility: int | None
    wait: int | None
    operation: str
    key: Any
    lesson: Any
    ids: Sequence[str]
    connection: int | None
    def __len__(self) -> int: ...
    def grant(self, permit: Permit) -> None: ...
    def is_granted(self, version: int) -> bool: ...
    def sends_to(self, version: int) -> int | None: ...
    def bounce(self) -> None: ...
    def sizes(self) -> list[int]: ...
    def named(self) -> tuple[int, int]: ...
    def messages(self, make: Callable[..., T], sender: str, deduplicates: bool) -> list[T]: ...
    def acknowledge(self, date: bytes, sent: Sequence[tuple[str, str | None]] | None = None) -> int: ...
    def hand_out(
        self, date: bytes, handle_key: bytes, queue_id: int, given: Sequence[Sequence[Any]] | None
    ) -> int: ...
    def apart(self) -> list[Party]: ...
    def park(self) -> None: ...
    def stir(self) -> None: ...
    def send_away(self, date: bytes) -> int: ...
    def open_handles(self, handle_key: bytes, queue_id: int) -> bool: ...
    def claims(self) -> list[bytes]: ...
    def settle(self, date: bytes, refused: Sequence[bool] | None) -> int: ...

class Cipher:
    def __init__(self, number: int, secret: bytes) -> None: ...

def unpacked(kept: Sequence[bytes]) -> bytes | None: ...

class Lines:
    packed: bytes
    count: int
    def __init__(self, before: bytes, between: bytes, behind: bytes, seq: int, bodies: bool) -> None: ...

class Shelf:
    def send(
        self,
        party: Party,
        shelf: int,
        now: int,
        due: int | None,
        first: int,
        sender: str,
        cipher: Cipher | None,
        lines: Lines | None,
    ) -> None: ...
    def receive(
        self,
        party: Party,
        shelf: int,
        fresh: tuple[int, int],
        most: int,
        limit: int,
        now: int,
        due: int,
        horizon: int,
        ciphers: dict[int, Cipher],
        lines: Lines | None,
    ) -> tuple[int, tuple[int, int]]: ...
    def delete(
        self, party: Party, shelf: int, now: int, lines: Lines | None
    ) -> tuple[tuple[int, int, int, int], int]: ...

class Permit:
    def __init__(
        self,
        who: Any,
        version: int,
        numbers: Any,
        queue: int,
        shelf: int,
        retention_ms: int,
        journal: tuple[bytes, bytes, bytes, bool] | None,
        sending: tuple[str, int | None, int, tuple[Cipher, int, int] | None] | None = None,
        receiving: tuple[int, int, int] | None = None,
        order: tuple[bool, bool, int, int | None] | None = None,
    ) -> None: ...

class Ring:
    last: int
    def note(self, number: int, rows: Sequence[Sequence[int | None]]) -> None: ...
    def take(self, number: int) -> list[tuple[int, tuple[int | None, ...]]]: ...
    def latest(self) -> dict[int, tuple[int | None, ...]]: ...

class Rounds:
    touched: list[int]
    def __init__(self, shelf: Shelf, fifo: FifoShelf) -> None: ...
    def serve(
        self,
        parties: list[Party],
        round: Any,
        standing: tuple[int, int, int, int, bool, bool],
        ring: Ring,
        ciphers: dict[int, Cipher],
    ) -> (
        tuple[
            list[Party],
            list[tuple[Any, int, int, list[int], int, int]],
            int,
            tuple[int, int, bytes] | None,
            int,
            int | None,
            int,
        ]
        | None
    ): ...

def compress(plain: int, packed: int) -> None: ...

class FifoShelf:
    def __init__(self, shelf: Shelf) -> None: ...
    def has_duplicates(self, party: Party, shelf: int, now: int, by_group: bool) -> bool: ...
    def send(
        self,
        party: Party,
        shelf: int,
        now: int,
        expires: int,
        first: int,
        by_group: bool,
        sender: str,
        cipher: Cipher | None,
        lines: Lines | None,
    ) -> int: ...
    def receive(
        self,
        party: Party,
        shelf: int,
        limit: int,
        now: int,
        due: int,
        horizon: int,
        most_receives: int | None,
        ciphers: dict[int, Cipher],
        lines: Lines | None,
    ) -> int: ...
    def delete(
        self, party: Party, shelf: int, now: int, lines: Lines | None
    ) -> tuple[tuple[int, int, int, int], int, int]: ...

class Lane:
    stirs: bool
    restless: bool
    def __init__(self, longest_body: int, longest_batch: int) -> None: ...
    def fileno(self) -> int: ...
    def lend(self, socket: int, peer: str, forms: Sequence[Form]) -> int: ...
    def poll(self, now_ms: int) -> list[Party]: ...
    def abandoned(self) -> list[tuple[int, bool]]: ...
    def returned(self) -> list[tuple[int, bytes, bytes, int]]: ...
    def stay_awake(self, seconds: float) -> None: ...
    def recall(self, key: int) -> None: ...
    def forget(self, key: int) -> None: ...
    def served(self, key: int) -> tuple[int, bool]: ...
    def recall_slow(self, seconds: float) -> None: ...
