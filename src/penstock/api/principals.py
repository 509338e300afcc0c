"""Whom a policy may name: those that there are.

Every account counts, and in the caller's own account its users and roles. Names in other accounts are not looked up, or
anyone could find out who is there. With authentication off every account exists, and so does everyone in it.
"""

from penstock.api.call import Call
from penstock.core.policy import Use, named_by, read_policy


def is_known(call: Call, value: str) -> bool:
    """Whether there is whom this value of `AWS` names."""
    named, site, own = named_by(value), call.site, call.principal.account
    if named is None or site.every_account_exists:
        return True
    if named.account != own:
        declared = named.account == site.root_account or named.account in site.declared_accounts
        return declared or site.identities.has_account(named.account)
    if not named.kind:
        return True
    directory = site.identities.directory
    found = (directory.user if named.kind == "user" else directory.role)(own, named.name)
    return found is not None and named.arn in ("", found.arn)


def check_known(call: Call, document: str, use: Use) -> None:
    """Raises UnknownPrincipal."""
    read_policy(document, use, known=lambda value: is_known(call, value))
