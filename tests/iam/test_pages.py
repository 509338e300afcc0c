"""Lists in pages: Marker, MaxItems, IsTruncated."""

from typing import Any

import pytest

from .conftest import Fresh
from .saying import TRUST, refused

MAKE = {
    "users": lambda iam, name, path: iam.create_user(UserName=name, Path=path),
    "groups": lambda iam, name, path: iam.create_group(GroupName=name, Path=path),
    "roles": lambda iam, name, path: iam.create_role(RoleName=name, Path=path, AssumeRolePolicyDocument=TRUST),
}


@pytest.mark.parametrize("plural", MAKE)
def test_every_page_together_is_everything_once_in_order(iam: Any, fresh: Fresh, plural: str) -> None:
    path = f"/{fresh('paged')}/"
    names = sorted(fresh("Name") for _ in range(7))
    for name in reversed(names):
        MAKE[plural](iam, name, path)
    member, key = plural.title(), f"{plural.title()[:-1]}Name"
    pages = list(iam.get_paginator(f"list_{plural}").paginate(PathPrefix=path, PaginationConfig={"PageSize": 3}))
    assert [len(page[member]) for page in pages] == [3, 3, 1]
    assert [page["IsTruncated"] for page in pages] == [True, True, False]
    assert [one[key] for page in pages for one in page[member]] == sorted(names, key=str.lower)


def test_what_is_deleted_between_two_pages_spoils_nothing(iam: Any, fresh: Fresh) -> None:
    path, names = f"/{fresh('paged')}/", [fresh("one") for _ in range(4)]
    for name in names:
        iam.create_user(UserName=name, Path=path)
    names.sort()
    first = iam.list_users(PathPrefix=path, MaxItems=2)
    iam.delete_user(UserName=names[1])
    second = iam.list_users(PathPrefix=path, MaxItems=2, Marker=first["Marker"])
    assert [user["UserName"] for user in second["Users"]] == names[2:]
    assert "Marker" not in second


def test_a_path_prefix_need_not_end_at_a_slash(iam: Any, fresh: Fresh) -> None:
    word, name = fresh("division"), fresh("inside")
    iam.create_user(UserName=name, Path=f"/{word}/team/")
    assert [user["UserName"] for user in iam.list_users(PathPrefix=f"/{word}/te")["Users"]] == [name]


def test_a_marker_that_is_none_is_refused(iam: Any, user: str) -> None:
    for marker in ("!", "é", "YQ", "/w=="):
        with refused("ValidationError", "Invalid Marker."):
            iam.list_users(Marker=marker)
    for marker in ("!", "YQ==", "LTE="):
        with refused("ValidationError", "Invalid Marker."):
            iam.list_user_tags(UserName=user, Marker=marker)
