"""How entities look in replies. Lists leave out what Amazon's leave out: tags, boundaries, descriptions."""

from collections.abc import Mapping
from time import gmtime, strftime
from typing import Any

from penstock.api.iam.documents import encoded
from penstock.aws import iam
from penstock.core.directory import AccessKey, Bounded, Directory, Group, ManagedPolicy, Role, Titled, User


def moment(ms: int) -> str:
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(ms / 1000))


def tags(given: Mapping[str, str]) -> list[iam.Tag]:
    return [iam.Tag(Key=key, Value=value) for key, value in given.items()]


def boundary(entity: Bounded) -> iam.AttachedPermissionsBoundary | None:
    if entity.boundary is None:
        return None
    return iam.AttachedPermissionsBoundary(
        PermissionsBoundaryType="PermissionsBoundaryPolicy", PermissionsBoundaryArn=entity.boundary
    )


def titled(entity: Titled) -> dict[str, Any]:
    """What every shape of a user, group, role or policy begins with."""
    word = entity.key.kind.capitalize()
    return {
        "Path": entity.path,
        f"{word}Name": entity.name,
        f"{word}Id": entity.id,
        "Arn": entity.arn,
        "CreateDate": moment(entity.created),
    }


def user(entity: User, whole: bool = True) -> iam.User:
    return iam.User(
        **titled(entity),
        PermissionsBoundary=boundary(entity) if whole else None,
        Tags=tags(entity.tags) if whole and entity.tags else None,
    )


def group(entity: Group) -> iam.Group:
    return iam.Group(**titled(entity))


def role(entity: Role, whole: bool = True) -> iam.Role:
    return iam.Role(
        **titled(entity),
        AssumeRolePolicyDocument=encoded(entity.trust),
        Description=entity.description or None,
        MaxSessionDuration=entity.most_session_seconds,
        PermissionsBoundary=boundary(entity) if whole else None,
        Tags=tags(entity.tags) if whole and entity.tags else None,
        RoleLastUsed=iam.RoleLastUsed() if whole else None,
    )


def policy(entity: ManagedPolicy, attached: int, bounding: int, whole: bool = True) -> iam.Policy:
    return iam.Policy(
        **managed(entity, attached, bounding),
        Description=(entity.description or None) if whole else None,
        Tags=tags(entity.tags) if whole else None,
    )


def managed(entity: ManagedPolicy, attached: int, bounding: int) -> dict[str, Any]:
    """`attached` and `bounding`: on how many it hangs, and for how many it is the boundary."""
    return titled(entity) | {
        "DefaultVersionId": entity.default,
        "AttachmentCount": attached,
        "PermissionsBoundaryUsageCount": bounding,
        "IsAttachable": True,
        "UpdateDate": moment(entity.updated or entity.created),
    }


def version(entity: ManagedPolicy, name: str, whole: bool = True) -> iam.PolicyVersion:
    found = entity.versions[name]
    return iam.PolicyVersion(
        Document=encoded(found.document) if whole else None,
        VersionId=name,
        IsDefaultVersion=name == entity.default,
        CreateDate=moment(found.created),
    )


def key(entity: AccessKey) -> iam.AccessKeyMetadata:
    return iam.AccessKeyMetadata(
        UserName=entity.user or None,
        AccessKeyId=entity.name,
        Status="Active" if entity.active else "Inactive",
        CreateDate=moment(entity.created),
    )


def attached(directory: Directory, arns: tuple[str, ...]) -> list[iam.AttachedPolicy]:
    found = (directory.policy_by_arn.get(arn) for arn in arns)
    return [iam.AttachedPolicy(PolicyName=policy.name, PolicyArn=policy.arn) for policy in found if policy]
