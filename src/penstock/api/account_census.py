"""Which accounts there are, where each comes from, what it has and how many queues it may have.

An account is there if the settings name it, an operator made it, or anything at all is in it: queues outlive the lines
of a settings file. Whoever asks here looks once over everything, so it is for operators; `quota_of` is for requests.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from penstock.api.call import Site
from penstock.aws import penstock
from penstock.core.directory import AccessKey, Entity, User
from penstock.core.errors import ServiceError

ROOT, SETTINGS, MADE, LEFT = "root", "settings", "made", "left"


def quota_of(site: Site, account: str) -> int:
    """The most queues it may have; 0 is any number."""
    made = site.identities.directory.accounts.get(account)
    return site.limits.max_queues_per_account if made is None or made.most_queues is None else made.most_queues


@dataclass(frozen=True)
class Census:
    site: Site
    queues: Counter[str]
    entities: Counter[tuple[type[Entity], str]]
    """How many of each kind an account has; the keys of the settings are not among them."""
    declared_keys: Counter[str]

    @classmethod
    async def of(cls, site: Site) -> "Census":
        """As the directory is now: hold `changing` for one that stays true."""
        everything = site.identities.directory.everything()
        return cls(
            site,
            Counter(queue.key.account for queue in await site.store.all_queues()),
            Counter((type(entity), entity.account) for entity in everything),
            Counter(site.identities.declared()),
        )

    @cached_property
    def ids(self) -> set[str]:
        named = {self.site.root_account, *self.site.declared_accounts, *self.declared_keys}
        return named | self.queues.keys() | {account for _, account in self.entities}

    def origin(self, account: str) -> str:
        if account == self.site.root_account:
            return ROOT
        if account in self.site.declared_accounts or account in self.declared_keys:
            return SETTINGS
        return MADE if account in self.site.identities.directory.accounts else LEFT

    def describe(self, account: str) -> penstock.AccountDescription:
        if account not in self.ids:
            raise ServiceError("NoSuchEntityException", f"There is no account {account}.")
        made = self.site.identities.directory.accounts.get(account)
        declared = self.site.declared_accounts.get(account, "")
        return penstock.AccountDescription(
            AccountId=account,
            Title=declared or (made.title if made else "") or None,
            Origin=self.origin(account),
            CreatedTimestamp=made.created if made and self.origin(account) == MADE else None,
            Queues=self.queues[account],
            Users=self.entities[User, account],
            Keys=self.entities[AccessKey, account] + self.declared_keys[account],
            MaxQueues=quota_of(self.site, account),
            OwnQuota=made is not None and made.most_queues is not None,
        )
