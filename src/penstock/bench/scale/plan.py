"""How large a run is, and which of its phases are wanted."""

from dataclasses import dataclass, replace
from math import ceil, sqrt

PHASES = {
    "load": "make the queues, send the messages, put some of them in flight",
    "hold": "memory, bytes on disk, and processor time while nothing happens",
    "work": "every operation over random queues and accounts, in turn with the same on empty stores",
    "kill": "kill -9 under load; how long until it answers again; counts of every queue; drain a sample",
    "storm": "many visibility timeouts that end in the same second, and normal calls meanwhile",
    "parked": "parked long polls on a fresh server: memory, idle processor time, waking",
}
ON_THE_LOAD = {"hold", "work", "kill", "storm"}
IDLE_SHARE, LONGEST_IDLE_SECONDS = 1 / 12, 5.0
OWN_SERVER_ONLY = {"kill", "parked"}
FEW = 20


@dataclass(frozen=True)
class Plan:
    """`accounts` × `queues` queues with `messages` each, of which `in_flight` are received and not deleted."""

    accounts: int = 100
    queues: int = 100
    messages: int = 1000
    in_flight: int = 500
    storm: int = 500_000
    parked: int = 5_000
    size: int = 256
    seconds: float = 60.0
    connections: int = 32
    phases: tuple[str, ...] = tuple(PHASES)

    def scaled(self, share: float) -> "Plan":
        """A share of the whole: accounts and queues by its root each, so their product by it; storm and parked too."""
        root = sqrt(share)
        return replace(
            self,
            accounts=max(1, round(self.accounts * root)),
            queues=max(1, round(self.queues * root)),
            storm=max(1, round(self.storm * share)),
            parked=max(1, round(self.parked * share)),
        )

    def of_phases(self, wanted: set[str]) -> "Plan":
        """In their order. What looks at a loaded store needs the loading."""
        needed = wanted | ({"load"} if wanted & ON_THE_LOAD else set())
        return replace(self, phases=tuple(phase for phase in PHASES if phase in needed))

    def few_queues(self) -> "Plan":
        """For a store to compare with, where there is hardly anything at all."""
        accounts = min(FEW, self.accounts)
        return replace(self, accounts=accounts, queues=ceil(FEW / accounts))

    @property
    def idle_seconds(self) -> float:
        """How long to look at a server that does nothing."""
        return min(LONGEST_IDLE_SECONDS, self.seconds * IDLE_SHARE)

    @property
    def every_queue(self) -> int:
        return self.accounts * self.queues

    @property
    def every_message(self) -> int:
        return self.every_queue * self.messages
