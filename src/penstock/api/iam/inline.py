"""Policies that belong to one user, group or role: four operations, made for each of them."""

from typing import Any

from msgspec.structs import replace

from penstock.api.call import Call, Operation
from penstock.api.iam.documents import checked, encoded, size_of
from penstock.api.iam.nouns import HOLDERS, Noun
from penstock.api.iam.paging import page
from penstock.api.iam.quotas import QUOTAS
from penstock.api.iam.refusals import no_such
from penstock.core.directory import Holder
from penstock.core.errors import ServiceError


def _check_size(noun: Noun[Holder], holder: Holder, inline: dict[str, str]) -> None:
    most = QUOTAS[f"{noun.word}PolicySizeQuota"]
    if sum(map(size_of, inline.values())) > most:
        raise ServiceError(
            "LimitExceededException",
            f"Maximum policy size of {most} bytes exceeded for {noun.word.lower()} {holder.name}",
        )


def _check_there(noun: Noun[Holder], holder: Holder, policy: str) -> None:
    if policy not in holder.inline:
        raise no_such(f"The {noun.word.lower()} policy with name {policy} cannot be found.")


def operations(noun: Noun[Holder]) -> dict[str, Operation]:
    async def put(call: Call, request: Any) -> None:
        async with call.site.identities.changing() as directory:
            holder = noun.asked(call, directory, request)
            inline = holder.inline | {request.PolicyName: request.PolicyDocument}
            _check_size(noun, holder, inline)
            checked(request.PolicyDocument)
            await call.site.identities.save(replace(holder, inline=inline))

    async def get(call: Call, request: Any) -> Any:
        holder = noun.asked(call, call.site.identities.directory, request)
        _check_there(noun, holder, request.PolicyName)
        return noun.reply(
            "Get{}PolicyResponse",
            **{f"{noun.word}Name": holder.name},
            PolicyName=request.PolicyName,
            PolicyDocument=encoded(holder.inline[request.PolicyName]),
        )

    async def names(call: Call, request: Any) -> Any:
        holder = noun.asked(call, call.site.identities.directory, request)
        found = page(request, holder.inline, str)
        return noun.reply("List{}PoliciesResponse", PolicyNames=found.items, **found.rest)

    async def delete(call: Call, request: Any) -> None:
        async with call.site.identities.changing() as directory:
            holder = noun.asked(call, directory, request)
            _check_there(noun, holder, request.PolicyName)
            rest = {name: text for name, text in holder.inline.items() if name != request.PolicyName}
            await call.site.identities.save(replace(holder, inline=rest))

    return {
        f"Put{noun.word}Policy": put,
        f"Get{noun.word}Policy": get,
        f"List{noun.word}Policies": names,
        f"Delete{noun.word}Policy": delete,
    }


OPERATIONS = {name: operation for noun in HOLDERS for name, operation in operations(noun).items()}
