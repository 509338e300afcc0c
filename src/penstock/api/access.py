"""Who is calling: the signature is checked against the keys that are known, and the caller gets a name and a region.

With authentication off, any or no signature is taken at its word: an access key id of twelve digits acts as that
account, anything else as the root account.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from penstock.api.identities import Key
from penstock.aws.http import HttpRequest
from penstock.aws.signature import Signature, Verifier, read
from penstock.core.errors import ServiceError
from penstock.core.identity import NOBODY, Principal, root_of
from penstock.core.pace import Pace

FAILURES_PER_SECOND = 20


class Keys(Protocol):
    def get(self, access_key: str) -> Key | None:
        """None for a key that nobody has, or that is not to be used."""


class Caller(NamedTuple):
    """`service` is the one the signature was made for; empty without a signature."""

    principal: Principal
    region: str
    service: str = ""


@dataclass
class Access:
    keys: Keys
    verifier: Verifier
    region: str
    root_account: str
    enforced: bool = True
    _failures: Pace = field(default_factory=lambda: Pace(FAILURES_PER_SECOND))

    def authenticate(self, request: HttpRequest, now: int) -> Caller:
        if not self.enforced:
            return self._taken_at_its_word(request)
        if self._failures.any and self._failures.exceeded(request.peer, now):
            raise ServiceError("RequestThrottled", "Request is throttled.")
        try:
            signature = read(request)
            if signature is None:
                return Caller(NOBODY, _region_of_host(request) or self.region)
            key = self.keys.get(signature.access_key)
            self.verifier.verify(signature, request, key.secret if key else None, now)
        except ServiceError:
            self._failures.count(request.peer, now)
            raise
        assert key is not None, "a verified signature has a key"
        return Caller(key.principal, signature.region, signature.service)

    def unsigned(self, request: HttpRequest, now: int) -> ServiceError:
        """Why a request without a signature is refused. It counts as a failure to authenticate."""
        self._failures.count(request.peer, now)
        return ServiceError("MissingAuthenticationToken", "Request is missing Authentication Token")

    def check_service(self, caller: Caller, service: str) -> None:
        """A signature is good for the service it was made for."""
        if self.enforced and caller.service != service:
            raise ServiceError(
                "SignatureDoesNotMatch", f"Credential should be scoped to correct service: '{service}'. "
            )

    def _taken_at_its_word(self, request: HttpRequest) -> Caller:
        try:
            signature: Signature | None = read(request)
        except ServiceError:
            signature = None
        if signature is None:
            return Caller(root_of(self.root_account), _region_of_host(request) or self.region)
        key = self.keys.get(signature.access_key)
        if key:
            principal = root_of(key.principal.account)
        else:
            named = signature.access_key
            is_account = len(named) == 12 and named.isascii() and named.isdigit()
            principal = root_of(named if is_account else self.root_account)
        return Caller(principal, signature.region, signature.service)


def _region_of_host(request: HttpRequest) -> str:
    """`sqs.REGION.amazonaws.com` and `REGION.queue.amazonaws.com` name a region; other hosts do not."""
    labels = request.headers.get(b"host", b"").decode("latin-1").partition(":")[0].split(".")
    if labels[-2:] != ["amazonaws", "com"] or len(labels) != 4:
        return ""
    return labels[1] if labels[0] == "sqs" else labels[0] if labels[1] == "queue" else ""
