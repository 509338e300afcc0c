"""Users, groups, roles and policies: how each is called, made, found, listed, and missed.

Operations that are the same for several of them (inline policies, attachments, boundaries, tags) are written once and
made for each noun. Everything is looked for in the caller's own account, and nowhere else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from penstock.api.call import Call
from penstock.api.iam.paging import Page, page
from penstock.api.iam.quotas import QUOTAS
from penstock.api.iam.refusals import already_there, in_use, invalid_input, no_such, not_valid, over_quota
from penstock.aws.iam import SERVICE
from penstock.core.directory import Directory, Group, Holder, ManagedPolicy, Role, Titled, User, named
from penstock.core.identifiers import unique_id
from penstock.core.identity import Kind

N = TypeVar("N", bound=Titled, covariant=True)


def by_name(entity: Titled) -> str:
    return named(entity.name)


@dataclass(frozen=True)
class Noun(Generic[N]):
    """`word` is its part in the names of operations, shapes and members; `prefix` that of its ids."""

    word: str
    plural: str
    kind: type[N]
    prefix: str
    find: Callable[[Directory, str, str], N | None]

    def reply(self, shape: str, **members: Any) -> Any:
        """A reply whose shape is named after the noun: `Get{}Response`."""
        return SERVICE.types[shape.format(self.word)](**members)

    def get(self, directory: Directory, account: str, name: str) -> N:
        found = self.find(directory, account, name)
        if found is None:
            raise no_such(f"The {self.word.lower()} with name {name} cannot be found.")
        return found

    def asked(self, call: Call, directory: Directory, request: Any) -> N:
        """The one that a request is about."""
        return self.get(directory, call.principal.account, getattr(request, f"{self.word}Name"))

    def new(self, call: Call, directory: Directory, request: Any) -> dict[str, Any]:
        """What every new one has, if the name that a request gives it is free and there is room for it."""
        account, name = call.principal.account, getattr(request, f"{self.word}Name")
        most, id = QUOTAS[f"{self.plural}Quota"], unique_id(self.prefix)
        self.check_free(directory, account, name)
        if len(directory.all_of(self.kind, account)) >= most:
            raise over_quota(f"{self.plural}PerAccount", most)
        return {"account": account, "name": name, "created": call.now(), "id": id, "path": request.Path or "/"}

    def check_free(self, directory: Directory, account: str, name: str) -> None:
        if self.find(directory, account, name):
            raise already_there(f"{self.word} with name {name} already exists.")

    def listed(self, call: Call, request: Any) -> Page[N]:
        """Those below the path that a request gives."""
        everyone, prefix = call.site.identities.directory.all_of(self.kind, call.principal.account), request.PathPrefix
        return page(request, (one for one in everyone if one.path.startswith(prefix or "/")), by_name)


class Policies(Noun[ManagedPolicy]):
    """Requests name them by ARN."""

    def asked(self, call: Call, directory: Directory, request: Any) -> ManagedPolicy:
        return self.at(call, directory, request.PolicyArn, "Policy {} was not found.")

    def at(self, call: Call, directory: Directory, arn: str, missing: str) -> ManagedPolicy:
        if not arn.startswith("arn:") or len(arn.split(":", 5)) != 6:
            raise invalid_input(f"ARN {arn} is not valid.")
        found = directory.policy_by_arn.get(arn)
        if found is None or found.account != call.principal.account:
            raise no_such(missing.format(arn))
        return found

    def check_free(self, directory: Directory, account: str, name: str) -> None:
        if self.find(directory, account, name):
            raise already_there(f"A policy called {name} already exists. Duplicate names are not allowed.")


USERS = Noun("User", "Users", User, "AIDA", Directory.user)
GROUPS = Noun("Group", "Groups", Group, "AGPA", Directory.group)
ROLES = Noun("Role", "Roles", Role, "AROA", Directory.role)
POLICIES = Policies("Policy", "Policies", ManagedPolicy, "ANPA", Directory.policy)
HOLDERS: tuple[Noun[User] | Noun[Group] | Noun[Role], ...] = (USERS, GROUPS, ROLES)


def check_bare(holder: Holder) -> None:
    """Who has a policy cannot be deleted."""
    if holder.attached:
        raise in_use("detach all policies")
    if holder.inline:
        raise in_use("delete policies")


def user_meant(call: Call, directory: Directory, name: str | None) -> User | None:
    """The user with this name; whoever calls if there is none; None for the account itself."""
    who = call.principal
    if name is not None:
        return USERS.get(directory, who.account, name)
    if who.kind is Kind.ROOT:
        return None
    if who.kind is Kind.USER:
        return USERS.get(directory, who.account, who.owner)
    raise not_valid("Must specify userName when calling with non-User credentials")
