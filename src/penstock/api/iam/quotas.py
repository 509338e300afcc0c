"""How much of everything there may be: Amazon's defaults, by the names under which GetAccountSummary tells them."""

QUOTAS: dict[str, int] = {
    "UsersQuota": 5000,
    "GroupsQuota": 300,
    "RolesQuota": 1000,
    "PoliciesQuota": 1500,
    "GroupsPerUserQuota": 10,
    "AccessKeysPerUserQuota": 2,
    "AttachedPoliciesPerUserQuota": 10,
    "AttachedPoliciesPerGroupQuota": 10,
    "AttachedPoliciesPerRoleQuota": 10,
    "UserPolicySizeQuota": 2048,
    "GroupPolicySizeQuota": 5120,
    "RolePolicySizeQuota": 10240,
    "AssumeRolePolicySizeQuota": 2048,
    "PolicySizeQuota": 6144,
    "VersionsPerPolicyQuota": 5,
}
"""Sizes are in characters without white space; those of inline policies are for all that one entity has."""

MOST_TAGS = 50
