"""The shapes of AWS IAM that are needed for what is answered, compiled from its service model; see `iam.pyi`."""

from penstock.aws.contract import load

ANSWERED = """
CreateUser GetUser ListUsers UpdateUser DeleteUser
CreateGroup GetGroup ListGroups UpdateGroup DeleteGroup
AddUserToGroup RemoveUserFromGroup ListGroupsForUser
CreateRole GetRole ListRoles UpdateRole UpdateRoleDescription UpdateAssumeRolePolicy DeleteRole
CreateAccessKey ListAccessKeys UpdateAccessKey DeleteAccessKey GetAccessKeyLastUsed
PutUserPolicy GetUserPolicy ListUserPolicies DeleteUserPolicy
PutGroupPolicy GetGroupPolicy ListGroupPolicies DeleteGroupPolicy
PutRolePolicy GetRolePolicy ListRolePolicies DeleteRolePolicy
CreatePolicy GetPolicy ListPolicies DeletePolicy
CreatePolicyVersion GetPolicyVersion ListPolicyVersions SetDefaultPolicyVersion DeletePolicyVersion
AttachUserPolicy DetachUserPolicy ListAttachedUserPolicies
AttachGroupPolicy DetachGroupPolicy ListAttachedGroupPolicies
AttachRolePolicy DetachRolePolicy ListAttachedRolePolicies
ListEntitiesForPolicy
PutUserPermissionsBoundary DeleteUserPermissionsBoundary PutRolePermissionsBoundary DeleteRolePermissionsBoundary
TagUser UntagUser ListUserTags TagRole UntagRole ListRoleTags TagPolicy UntagPolicy ListPolicyTags
SimulatePrincipalPolicy SimulateCustomPolicy GetContextKeysForPrincipalPolicy GetContextKeysForCustomPolicy
GetAccountSummary GetAccountAuthorizationDetails ListAccountAliases
ListInstanceProfiles ListInstanceProfilesForRole ListMFADevices ListVirtualMFADevices ListSSHPublicKeys
ListSigningCertificates ListServiceSpecificCredentials GetLoginProfile DeleteLoginProfile
"""
"""The model has twice as many; each one here has its coroutine in `api.iam`."""

SERVICE = load("iam", frozenset(ANSWERED.split()))
globals().update(SERVICE.types)
