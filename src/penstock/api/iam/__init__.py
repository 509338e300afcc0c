"""AWS IAM: the principals of an account and what they may do, by Amazon's own calls.

A file for each noun. Every operation is about the caller's own account; whether the caller may is decided before it
runs, from `RESOURCES`. A change looks and writes while it holds `identities.changing()`, in one step or not at all.
"""

from penstock.api.call import Operation
from penstock.api.iam import (
    absent,
    attachments,
    boundaries,
    groups,
    inline,
    keys,
    policies,
    roles,
    simulate,
    summary,
    tags,
    users,
    versions,
)
from penstock.api.iam.resources import ALSO, CALLED, RESOURCES, TAGGING
from penstock.aws.iam import SERVICE

_PARTS = (
    users, groups, roles, keys, inline, policies, versions, attachments, boundaries, tags, simulate, summary, absent,
)  # fmt: skip

OPERATIONS: dict[str, Operation] = {name: run for part in _PARTS for name, run in part.OPERATIONS.items()}

__all__ = ["ALSO", "CALLED", "OPERATIONS", "RESOURCES", "SERVICE", "TAGGING"]
