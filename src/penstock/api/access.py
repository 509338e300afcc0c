"""Who is calling: the signature is checked against the keys that are known, and the caller gets a name and a region.

Whoever fails too often is not looked at for a while: an address with any keys, and an address with one key sooner. A
stranger's failures are his own address's alone, so nobody can lock out another.

With authentication off, any or no signature is taken at its word: a key that is known acts as its owner, an access key
id of twelve digits as that account, anything else as the root account.
"""

from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from penstock.api.acquaintance import Acquaintance
from penstock.api.addresses import Addresses
from penstock.api.identities import Key
from penstock.api.last_used import LastUsed
from penstock.aws.http import HttpRequest
from penstock.aws.signature import Signature, Verifier, read
from penstock.core.errors import ServiceError
from penstock.core.identity import NOBODY, Kind, Principal, root_of
from penstock.core.naming import is_account
from penstock.core.neighbourhood import neighbourhood_of
from penstock.core.pace import Pace

FAILURES_PER_SECOND = 20
FAILURES_PER_SECOND_WITH_A_KEY = 10
IAM = "iam"
_CHARACTERS_OF_A_KEY = 32  # of what a stranger calls a key, that much is remembered


class Keys(Protocol):
    def get(self, access_key: str) -> Key | None:
        """None for a key that nobody has, or that is not to be used."""

    def temporary(self, access_key: str, token: str) -> Key | None:
        """The same for a key that comes with a token, whether or not its time is over."""


class Caller(msgspec.Struct, frozen=True):
    """`service` is the one the signature was made for; empty without a signature, as is `access_key`."""

    principal: Principal
    region: str
    service: str = ""
    access_key: str = ""


@dataclass
class Access:
    keys: Keys
    verifier: Verifier
    region: str
    root_account: str
    enforced: bool = True
    addresses: Addresses = field(default_factory=Addresses)
    used: LastUsed = field(default_factory=LastUsed)
    _failures: Pace = field(default_factory=lambda: Pace(FAILURES_PER_SECOND))
    _failures_with_keys: Pace = field(default_factory=lambda: Pace(FAILURES_PER_SECOND_WITH_A_KEY))

    def authenticate(self, request: HttpRequest, now: int) -> Caller:
        if not self.enforced:
            return self._taken_at_its_word(request)
        if request.lesson is not None and (caller := self._recognised(request, request.lesson, now)):
            return caller
        signature = self._claim(request, now)
        if signature is None:
            return Caller(NOBODY, _region_of_host(request) or self.region)
        key = self._key(signature)
        try:
            self.verifier.verify(signature, request, key.secret if key else None, now)
        except ServiceError:
            self._count_failure(request, signature, now)
            raise
        assert key is not None, "a verified signature has a key"
        if request.remember is not None and (familiar := self.verifier.familiar(signature, request, key.secret, now)):
            request.remember(request, Acquaintance(familiar))
            request.remember = None
        return self._caller(key, signature, now)

    def _recognised(self, request: HttpRequest, known: Acquaintance, now: int) -> Caller | None:
        """The caller, if the request is like one before it and as good; None if it has to be looked at closely."""
        familiar, claim = known.familiar, known.familiar.claim
        if self._failures.any and self._fails_too_often(request, claim, now):
            return None
        key = self.keys.get(claim.access_key) if claim.token is None else self._key(claim)
        if key is None or not familiar.confirms(request, key.secret, now):
            return None
        if key is not known.key or key.principal.session is not None:
            known.key, known.caller = key, self._caller(key, claim, now)
        else:
            self.used.note(claim.access_key, claim.region, claim.service, now)
        caller: Caller = known.caller
        return caller

    @property
    def wary(self) -> bool:
        """Whether somebody failed of late, so that everybody has to be looked at closely."""
        return self._failures.any

    def note_use(self, claim: Signature, now: int) -> None:
        self.used.note(claim.access_key, claim.region, claim.service, now)

    def vouched(self, known: Acquaintance, key: Key, peer: HttpRequest, now: int) -> Caller | None:
        """Who sent a request whose signature was found good with this key, elsewhere, by what is known of heads like
        its; None if it has to be looked at closely."""
        claim = known.familiar.claim
        if self._failures.any and self._fails_too_often(peer, claim, now):
            return None
        if key is not known.key or self.keys.get(claim.access_key) is not key:
            return None
        self.used.note(claim.access_key, claim.region, claim.service, now)
        caller: Caller = known.caller
        return caller

    def _caller(self, key: Key, signature: Signature, now: int) -> Caller:
        session = key.principal.session
        if session is None:
            self.used.note(signature.access_key, signature.region, signature.service, now)
        elif session.expires <= now:  # only who has the secret is told, and it is no failure to count
            raise ServiceError("ExpiredToken", "The security token included in the request is expired")
        return Caller(key.principal, signature.region, signature.service, signature.access_key)

    def unsigned(self, request: HttpRequest, now: int) -> ServiceError:
        """Why a request without a signature is refused. It counts as a failure to authenticate."""
        self._count_failure(request, None, now)
        return ServiceError("MissingAuthenticationToken", "Request is missing Authentication Token")

    def check_service(self, caller: Caller, service: str) -> None:
        """A signature is good for the service it was made for. With a session of one's own, or of somebody one vouches
        for, nobody can call IAM: it would make keys that outlive the session."""
        if self.enforced and caller.service != service:
            raise ServiceError(
                "SignatureDoesNotMatch", f"Credential should be scoped to correct service: '{service}'. "
            )
        who = caller.principal
        if service == IAM and who.session is not None and who.kind is not Kind.ROLE:
            raise ServiceError("InvalidClientTokenId", "The security token included in the request is invalid.")

    def _key(self, signature: Signature) -> Key | None:
        """Which of the two a key needs is up to the verifier: a token goes with temporary keys and with no others."""
        if signature.token is None:
            return self.keys.get(signature.access_key)
        return self.keys.temporary(signature.access_key, signature.token)

    def _claim(self, request: HttpRequest, now: int) -> Signature | None:
        """What the request says of its signature, if whoever sent it did not fail too often; None if nothing."""
        if self._failures.any and self._failures.exceeded(self._address(request), now):
            raise _throttled()
        try:
            signature = read(request)
        except ServiceError:
            self._count_failure(request, None, now)
            raise
        failures = self._failures_with_keys
        if signature and failures.any and failures.exceeded(_pair(self._address(request), signature), now):
            raise _throttled()
        return signature

    def _fails_too_often(self, request: HttpRequest, signature: Signature, now: int) -> bool:
        address = self._address(request)
        return self._failures.exceeded(address, now) or self._failures_with_keys.exceeded(
            _pair(address, signature), now
        )

    def _count_failure(self, request: HttpRequest, signature: Signature | None, now: int) -> None:
        address = self._address(request)
        self._failures.count(address, now)
        if signature is not None:
            self._failures_with_keys.count(_pair(address, signature), now)

    def _address(self, request: HttpRequest) -> str:
        return neighbourhood_of(self.addresses.peer_of(request))

    def _taken_at_its_word(self, request: HttpRequest) -> Caller:
        try:
            signature: Signature | None = read(request)
        except ServiceError:
            signature = None
        if signature is None:
            return Caller(root_of(self.root_account), _region_of_host(request) or self.region)
        key = self._key(signature)
        if key:
            principal = root_of(key.principal.account)
        else:
            named = signature.access_key
            principal = root_of(named if is_account(named) else self.root_account)
        return Caller(principal, signature.region, signature.service, signature.access_key)


def _pair(address: str, signature: Signature) -> str:
    return f"{address} {signature.access_key[:_CHARACTERS_OF_A_KEY]}"


def _throttled() -> ServiceError:
    return ServiceError("RequestThrottled", "Request is throttled.")


def _region_of_host(request: HttpRequest) -> str:
    """`sqs.REGION.amazonaws.com` and `REGION.queue.amazonaws.com` name a region; other hosts do not."""
    labels = request.headers.get(b"host", b"").decode("latin-1").partition(":")[0].split(".")
    if labels[-2:] != ["amazonaws", "com"] or len(labels) != 4:
        return ""
    return labels[1] if labels[0] == "sqs" else labels[0] if labels[1] == "queue" else ""
