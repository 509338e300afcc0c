"""Text against patterns with `*` and `?`: how long it takes is decided here, what a match means is not.

A pattern is cut at its stars. Each piece is looked for once, from where the one before ended, and never again further
back: the leftmost place is as good as any. So a match walks over the text once, whatever the pattern is. A piece with
question marks is looked for with one bit per character (shift-and).
"""

from collections.abc import Callable, Iterable
from enum import Enum
from functools import lru_cache


class Wild(Enum):
    ANY = "*"
    ONE = "?"


Letters = tuple[str | Wild, ...]
"""A pattern: texts that stand for themselves, and wildcards."""

Match = Callable[[str], bool]


@lru_cache(1024)
def match_of(letters: Letters) -> Match:
    """The quickest way to match this pattern against whole texts. Remembered, for those with variables in them."""
    match _joined(letters):
        case ():
            return "".__eq__
        case (str() as text,):
            return text.__eq__
        case (Wild.ANY,):
            return _everything
        case (str() as start, Wild.ANY):
            return lambda text: text.startswith(start)
        case joined:
            return _Glob(joined).matches


def _everything(text: str) -> bool:
    return True


def _joined(letters: Letters) -> Letters:
    """The same pattern with neighbouring texts and stars made one."""
    result: list[str | Wild] = []
    for letter in letters:
        if letter == "" or (letter is Wild.ANY and result and result[-1] is Wild.ANY):
            continue
        if isinstance(letter, str) and result and isinstance(result[-1], str):
            result[-1] += letter
        else:
            result.append(letter)
    return tuple(result)


class _Plain:
    """A piece without question marks."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.length = len(text)

    def stands_at(self, text: str, index: int) -> bool:
        return text.startswith(self._text, index)

    def find(self, text: str, start: int, stop: int) -> int:
        return text.find(self._text, start, stop)


class _Spotted:
    """A piece with question marks. Bit n of a mask says that the character may be the piece's nth.

    Masks are made for the characters that a text has: those of all that a piece has could fill the memory.
    """

    def __init__(self, letters: Iterable[str | Wild]) -> None:
        spots = [spot for letter in letters for spot in ([None] if letter is Wild.ONE else str(letter))]
        self._spots = spots
        self.length = len(spots)
        self._places: dict[str | None, list[int]] = {}
        for index, spot in enumerate(spots):
            self._places.setdefault(spot, []).append(index)

    def _mask(self, letter: str) -> int:
        return sum(1 << index for spot in (letter, None) for index in self._places.get(spot, ()))

    def stands_at(self, text: str, index: int) -> bool:
        there = text[index : index + self.length]
        return len(there) == self.length and all(
            spot is None or spot == letter for spot, letter in zip(self._spots, there, strict=True)
        )

    def find(self, text: str, start: int, stop: int) -> int:
        masks: dict[str, int] = {}
        last, state = 1 << (self.length - 1), 0
        for index in range(start, stop):
            letter = text[index]
            if letter not in masks:
                masks[letter] = self._mask(letter)
            state = (state << 1 | 1) & masks[letter]
            if state & last:
                return index + 1 - self.length
        return -1


class _Glob:
    def __init__(self, letters: Letters) -> None:
        pieces: list[list[str | Wild]] = [[]]
        for letter in letters:
            if letter is Wild.ANY:
                pieces.append([])
            else:
                pieces[-1].append(letter)
        self._first, *rest = (_piece(piece) for piece in pieces)
        self._last = rest.pop() if rest else None
        self._middle = rest
        self._least = (
            self._first.length + sum(piece.length for piece in rest) + (self._last.length if self._last else 0)
        )

    def matches(self, text: str) -> bool:
        if len(text) < self._least or not self._first.stands_at(text, 0):
            return False
        if self._last is None:
            return len(text) == self._least
        position, stop = self._first.length, len(text) - self._last.length
        if not self._last.stands_at(text, stop):
            return False
        for piece in self._middle:
            found = piece.find(text, position, stop)
            if found < 0:
                return False
            position = found + piece.length
        return True


def _piece(letters: list[str | Wild]) -> _Plain | _Spotted:
    return _Spotted(letters) if Wild.ONE in letters else _Plain("".join(map(str, letters)))
