"""Tags of users, roles and policies: three operations, made for each of them.

Keys are the same when they differ only in case; they are shown as they were last written.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from penstock.api.call import Call, Operation
from penstock.api.iam import shown
from penstock.api.iam.nouns import POLICIES, ROLES, USERS, Noun
from penstock.api.iam.paging import stretch
from penstock.api.iam.quotas import MOST_TAGS
from penstock.api.iam.refusals import invalid_input
from penstock.aws import iam
from penstock.core.errors import ServiceError


def checked_tags(before: Mapping[str, str], given: Iterable[iam.Tag]) -> dict[str, str]:
    """What there was, with these added or in place of others."""
    added = [(tag.Key or "", tag.Value or "") for tag in given]
    keys = {key.lower() for key, _ in added}
    if len(keys) < len(added):
        raise invalid_input("Duplicate tag keys found. Please note that Tag keys are case insensitive.")
    if any(key.startswith("aws:") for key in keys):
        raise invalid_input("aws: prefixed tag key names are not allowed for external use.")
    after = {key: value for key, value in before.items() if key.lower() not in keys} | dict(added)
    if len(after) > MOST_TAGS:
        raise ServiceError("LimitExceededException", f"The number of tags has reached the maximum limit: {MOST_TAGS}.")
    return after


def operations(noun: Noun[Any]) -> dict[str, Operation]:
    async def tag(call: Call, request: Any) -> None:
        async with call.site.identities.changing() as directory:
            entity = noun.asked(call, directory, request)
            await call.site.identities.save(replace(entity, tags=checked_tags(entity.tags, request.Tags)))

    async def untag(call: Call, request: Any) -> None:
        gone = {key.lower() for key in request.TagKeys}
        async with call.site.identities.changing() as directory:
            entity = noun.asked(call, directory, request)
            rest = {key: value for key, value in entity.tags.items() if key.lower() not in gone}
            await call.site.identities.save(replace(entity, tags=rest))

    async def tags(call: Call, request: Any) -> Any:
        entity = noun.asked(call, call.site.identities.directory, request)
        listed = shown.tags(dict(sorted(entity.tags.items())))
        found = stretch(request, len(listed))  # a key may be longer than a marker
        return noun.reply("List{}TagsResponse", Tags=[listed[number] for number in found.items], **found.rest)

    return {f"Tag{noun.word}": tag, f"Untag{noun.word}": untag, f"List{noun.word}Tags": tags}


OPERATIONS: dict[str, Operation] = {**operations(USERS), **operations(ROLES), **operations(POLICIES)}
