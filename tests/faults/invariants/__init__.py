"""What must hold of every history, whatever happened to the server: I1…I20 of the reliability specification.

A checker is a pure function from sightings to complaints, and its name is its number and its sentence. It may only
complain of what cannot be excused by an operation whose outcome is unknown: a complaint is a bug. `delivery` has those
about one message on its way, `order` those about FIFO queues, `ends` those about ends of messages, and the house.
"""

from collections.abc import Callable, Iterator, Sequence

from ..history import Operation
from ..sightings import Sightings
from . import delivery, ends, order

Checker = Callable[[Sightings], Iterator[str]]

INVARIANTS: dict[str, Checker] = {
    name.partition("_")[0].upper(): check
    for module in (delivery, order, ends)
    for name, check in vars(module).items()
    if name[0] == "i" and name.partition("_")[0][1:].isdigit()
}
"""Number → checker."""


def sentence(number: str) -> str:
    return f"{number} {INVARIANTS[number].__name__.partition('_')[2].replace('_', ' ')}"


def violations(operations: Sequence[Operation]) -> dict[str, list[str]]:
    """What is wrong with a history, by the sentence that it violates: nothing, if all is well."""
    seen = Sightings(operations)
    found = {sentence(number): list(check(seen)) for number, check in INVARIANTS.items()}
    return {name: complaints for name, complaints in found.items() if complaints}
