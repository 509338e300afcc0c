# Written by `make stubs` from the service model of iam (2010-05-08). Do not edit.
import msgspec

from penstock.aws.contract import Service

SERVICE: Service

class AccessKey(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    AccessKeyId: str | None = None
    Status: str | None = None
    SecretAccessKey: str | None = None
    CreateDate: str | float | None = None

class AccessKeyLastUsed(msgspec.Struct, kw_only=True):
    LastUsedDate: str | float | None = None
    ServiceName: str | None = None
    Region: str | None = None

class AccessKeyMetadata(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    AccessKeyId: str | None = None
    Status: str | None = None
    CreateDate: str | float | None = None

class AddUserToGroupRequest(msgspec.Struct, kw_only=True):
    GroupName: str
    UserName: str

class AttachGroupPolicyRequest(msgspec.Struct, kw_only=True):
    GroupName: str
    PolicyArn: str

class AttachRolePolicyRequest(msgspec.Struct, kw_only=True):
    RoleName: str
    PolicyArn: str

class AttachUserPolicyRequest(msgspec.Struct, kw_only=True):
    UserName: str
    PolicyArn: str

class AttachedPermissionsBoundary(msgspec.Struct, kw_only=True):
    PermissionsBoundaryType: str | None = None
    PermissionsBoundaryArn: str | None = None

class AttachedPolicy(msgspec.Struct, kw_only=True):
    PolicyName: str | None = None
    PolicyArn: str | None = None

class ContextEntry(msgspec.Struct, kw_only=True):
    ContextKeyName: str | None = None
    ContextKeyValues: list[str] | None = None
    ContextKeyType: str | None = None

class CreateAccessKeyRequest(msgspec.Struct, kw_only=True):
    UserName: str | None = None

class CreateAccessKeyResponse(msgspec.Struct, kw_only=True):
    AccessKey: AccessKey | None = None

class CreateGroupRequest(msgspec.Struct, kw_only=True):
    Path: str | None = None
    GroupName: str

class CreateGroupResponse(msgspec.Struct, kw_only=True):
    Group: Group | None = None

class CreatePolicyRequest(msgspec.Struct, kw_only=True):
    PolicyName: str
    Path: str | None = None
    PolicyDocument: str
    Description: str | None = None
    Tags: list[Tag] | None = None

class CreatePolicyResponse(msgspec.Struct, kw_only=True):
    Policy: Policy | None = None

class CreatePolicyVersionRequest(msgspec.Struct, kw_only=True):
    PolicyArn: str
    PolicyDocument: str
    SetAsDefault: bool | None = None

class CreatePolicyVersionResponse(msgspec.Struct, kw_only=True):
    PolicyVersion: PolicyVersion | None = None

class CreateRoleRequest(msgspec.Struct, kw_only=True):
    Path: str | None = None
    RoleName: str
    AssumeRolePolicyDocument: str
    Description: str | None = None
    MaxSessionDuration: int | None = None
    PermissionsBoundary: str | None = None
    Tags: list[Tag] | None = None

class CreateRoleResponse(msgspec.Struct, kw_only=True):
    Role: Role | None = None

class CreateUserRequest(msgspec.Struct, kw_only=True):
    Path: str | None = None
    UserName: str
    PermissionsBoundary: str | None = None
    Tags: list[Tag] | None = None

class CreateUserResponse(msgspec.Struct, kw_only=True):
    User: User | None = None

class DeleteAccessKeyRequest(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    AccessKeyId: str

class DeleteGroupPolicyRequest(msgspec.Struct, kw_only=True):
    GroupName: str
    PolicyName: str

class DeleteGroupRequest(msgspec.Struct, kw_only=True):
    GroupName: str

class DeleteLoginProfileRequest(msgspec.Struct, kw_only=True):
    UserName: str | None = None

class DeletePolicyRequest(msgspec.Struct, kw_only=True):
    PolicyArn: str

class DeletePolicyVersionRequest(msgspec.Struct, kw_only=True):
    PolicyArn: str
    VersionId: str

class DeleteRolePermissionsBoundaryRequest(msgspec.Struct, kw_only=True):
    RoleName: str

class DeleteRolePolicyRequest(msgspec.Struct, kw_only=True):
    RoleName: str
    PolicyName: str

class DeleteRoleRequest(msgspec.Struct, kw_only=True):
    RoleName: str

class DeleteUserPermissionsBoundaryRequest(msgspec.Struct, kw_only=True):
    UserName: str

class DeleteUserPolicyRequest(msgspec.Struct, kw_only=True):
    UserName: str
    PolicyName: str

class DeleteUserRequest(msgspec.Struct, kw_only=True):
    UserName: str

class DetachGroupPolicyRequest(msgspec.Struct, kw_only=True):
    GroupName: str
    PolicyArn: str

class DetachRolePolicyRequest(msgspec.Struct, kw_only=True):
    RoleName: str
    PolicyArn: str

class DetachUserPolicyRequest(msgspec.Struct, kw_only=True):
    UserName: str
    PolicyArn: str

class EvaluationResult(msgspec.Struct, kw_only=True):
    EvalActionName: str | None = None
    EvalResourceName: str | None = None
    EvalDecision: str | None = None
    MatchedStatements: list[Statement] | None = None
    MissingContextValues: list[str] | None = None
    OrganizationsDecisionDetail: OrganizationsDecisionDetail | None = None
    PermissionsBoundaryDecisionDetail: PermissionsBoundaryDecisionDetail | None = None
    EvalDecisionDetails: dict[str, str] | None = None
    ResourceSpecificResults: list[ResourceSpecificResult] | None = None

class GetAccessKeyLastUsedRequest(msgspec.Struct, kw_only=True):
    AccessKeyId: str

class GetAccessKeyLastUsedResponse(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    AccessKeyLastUsed: AccessKeyLastUsed | None = None

class GetAccountAuthorizationDetailsRequest(msgspec.Struct, kw_only=True):
    Filter: list[str] | None = None
    MaxItems: int | None = None
    Marker: str | None = None

class GetAccountAuthorizationDetailsResponse(msgspec.Struct, kw_only=True):
    UserDetailList: list[UserDetail] | None = None
    GroupDetailList: list[GroupDetail] | None = None
    RoleDetailList: list[RoleDetail] | None = None
    Policies: list[ManagedPolicyDetail] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class GetAccountSummaryResponse(msgspec.Struct, kw_only=True):
    SummaryMap: dict[str, int] | None = None

class GetContextKeysForCustomPolicyRequest(msgspec.Struct, kw_only=True):
    PolicyInputList: list[str]

class GetContextKeysForPolicyResponse(msgspec.Struct, kw_only=True):
    ContextKeyNames: list[str] | None = None

class GetContextKeysForPrincipalPolicyRequest(msgspec.Struct, kw_only=True):
    PolicySourceArn: str
    PolicyInputList: list[str] | None = None

class GetGroupPolicyRequest(msgspec.Struct, kw_only=True):
    GroupName: str
    PolicyName: str

class GetGroupPolicyResponse(msgspec.Struct, kw_only=True):
    GroupName: str | None = None
    PolicyName: str | None = None
    PolicyDocument: str | None = None

class GetGroupRequest(msgspec.Struct, kw_only=True):
    GroupName: str
    Marker: str | None = None
    MaxItems: int | None = None

class GetGroupResponse(msgspec.Struct, kw_only=True):
    Group: Group | None = None
    Users: list[User] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class GetLoginProfileRequest(msgspec.Struct, kw_only=True):
    UserName: str | None = None

class GetLoginProfileResponse(msgspec.Struct, kw_only=True):
    LoginProfile: LoginProfile | None = None

class GetPolicyRequest(msgspec.Struct, kw_only=True):
    PolicyArn: str

class GetPolicyResponse(msgspec.Struct, kw_only=True):
    Policy: Policy | None = None

class GetPolicyVersionRequest(msgspec.Struct, kw_only=True):
    PolicyArn: str
    VersionId: str

class GetPolicyVersionResponse(msgspec.Struct, kw_only=True):
    PolicyVersion: PolicyVersion | None = None

class GetRolePolicyRequest(msgspec.Struct, kw_only=True):
    RoleName: str
    PolicyName: str

class GetRolePolicyResponse(msgspec.Struct, kw_only=True):
    RoleName: str | None = None
    PolicyName: str | None = None
    PolicyDocument: str | None = None

class GetRoleRequest(msgspec.Struct, kw_only=True):
    RoleName: str

class GetRoleResponse(msgspec.Struct, kw_only=True):
    Role: Role | None = None

class GetUserPolicyRequest(msgspec.Struct, kw_only=True):
    UserName: str
    PolicyName: str

class GetUserPolicyResponse(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    PolicyName: str | None = None
    PolicyDocument: str | None = None

class GetUserRequest(msgspec.Struct, kw_only=True):
    UserName: str | None = None

class GetUserResponse(msgspec.Struct, kw_only=True):
    User: User | None = None

class Group(msgspec.Struct, kw_only=True):
    Path: str | None = None
    GroupName: str | None = None
    GroupId: str | None = None
    Arn: str | None = None
    CreateDate: str | float | None = None

class GroupDetail(msgspec.Struct, kw_only=True):
    Path: str | None = None
    GroupName: str | None = None
    GroupId: str | None = None
    Arn: str | None = None
    CreateDate: str | float | None = None
    GroupPolicyList: list[PolicyDetail] | None = None
    AttachedManagedPolicies: list[AttachedPolicy] | None = None

class InlinePolicyIdentifierType(msgspec.Struct, kw_only=True):
    PolicyName: str
    AttachmentType: str
    AttachmentName: str

class InstanceProfile(msgspec.Struct, kw_only=True):
    Path: str | None = None
    InstanceProfileName: str | None = None
    InstanceProfileId: str | None = None
    Arn: str | None = None
    CreateDate: str | float | None = None
    Roles: list[Role] | None = None
    Tags: list[Tag] | None = None

class ListAccessKeysRequest(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    Marker: str | None = None
    MaxItems: int | None = None

class ListAccessKeysResponse(msgspec.Struct, kw_only=True):
    AccessKeyMetadata: list[AccessKeyMetadata] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListAccountAliasesRequest(msgspec.Struct, kw_only=True):
    Marker: str | None = None
    MaxItems: int | None = None

class ListAccountAliasesResponse(msgspec.Struct, kw_only=True):
    AccountAliases: list[str] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListAttachedGroupPoliciesRequest(msgspec.Struct, kw_only=True):
    GroupName: str
    PathPrefix: str | None = None
    Marker: str | None = None
    MaxItems: int | None = None

class ListAttachedGroupPoliciesResponse(msgspec.Struct, kw_only=True):
    AttachedPolicies: list[AttachedPolicy] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListAttachedRolePoliciesRequest(msgspec.Struct, kw_only=True):
    RoleName: str
    PathPrefix: str | None = None
    Marker: str | None = None
    MaxItems: int | None = None

class ListAttachedRolePoliciesResponse(msgspec.Struct, kw_only=True):
    AttachedPolicies: list[AttachedPolicy] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListAttachedUserPoliciesRequest(msgspec.Struct, kw_only=True):
    UserName: str
    PathPrefix: str | None = None
    Marker: str | None = None
    MaxItems: int | None = None

class ListAttachedUserPoliciesResponse(msgspec.Struct, kw_only=True):
    AttachedPolicies: list[AttachedPolicy] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListEntitiesForPolicyRequest(msgspec.Struct, kw_only=True):
    PolicyArn: str
    EntityFilter: str | None = None
    PathPrefix: str | None = None
    PolicyUsageFilter: str | None = None
    Marker: str | None = None
    MaxItems: int | None = None

class ListEntitiesForPolicyResponse(msgspec.Struct, kw_only=True):
    PolicyGroups: list[PolicyGroup] | None = None
    PolicyUsers: list[PolicyUser] | None = None
    PolicyRoles: list[PolicyRole] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListGroupPoliciesRequest(msgspec.Struct, kw_only=True):
    GroupName: str
    Marker: str | None = None
    MaxItems: int | None = None

class ListGroupPoliciesResponse(msgspec.Struct, kw_only=True):
    PolicyNames: list[str] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListGroupsForUserRequest(msgspec.Struct, kw_only=True):
    UserName: str
    Marker: str | None = None
    MaxItems: int | None = None

class ListGroupsForUserResponse(msgspec.Struct, kw_only=True):
    Groups: list[Group] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListGroupsRequest(msgspec.Struct, kw_only=True):
    PathPrefix: str | None = None
    Marker: str | None = None
    MaxItems: int | None = None

class ListGroupsResponse(msgspec.Struct, kw_only=True):
    Groups: list[Group] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListInstanceProfilesForRoleRequest(msgspec.Struct, kw_only=True):
    RoleName: str
    Marker: str | None = None
    MaxItems: int | None = None

class ListInstanceProfilesForRoleResponse(msgspec.Struct, kw_only=True):
    InstanceProfiles: list[InstanceProfile] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListInstanceProfilesRequest(msgspec.Struct, kw_only=True):
    PathPrefix: str | None = None
    Marker: str | None = None
    MaxItems: int | None = None

class ListInstanceProfilesResponse(msgspec.Struct, kw_only=True):
    InstanceProfiles: list[InstanceProfile] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListMFADevicesRequest(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    Marker: str | None = None
    MaxItems: int | None = None

class ListMFADevicesResponse(msgspec.Struct, kw_only=True):
    MFADevices: list[MFADevice] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListPoliciesRequest(msgspec.Struct, kw_only=True):
    Scope: str | None = None
    OnlyAttached: bool | None = None
    PathPrefix: str | None = None
    PolicyUsageFilter: str | None = None
    Marker: str | None = None
    MaxItems: int | None = None

class ListPoliciesResponse(msgspec.Struct, kw_only=True):
    Policies: list[Policy] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListPolicyTagsRequest(msgspec.Struct, kw_only=True):
    PolicyArn: str
    Marker: str | None = None
    MaxItems: int | None = None

class ListPolicyTagsResponse(msgspec.Struct, kw_only=True):
    Tags: list[Tag] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListPolicyVersionsRequest(msgspec.Struct, kw_only=True):
    PolicyArn: str
    Marker: str | None = None
    MaxItems: int | None = None

class ListPolicyVersionsResponse(msgspec.Struct, kw_only=True):
    Versions: list[PolicyVersion] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListRolePoliciesRequest(msgspec.Struct, kw_only=True):
    RoleName: str
    Marker: str | None = None
    MaxItems: int | None = None

class ListRolePoliciesResponse(msgspec.Struct, kw_only=True):
    PolicyNames: list[str] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListRoleTagsRequest(msgspec.Struct, kw_only=True):
    RoleName: str
    Marker: str | None = None
    MaxItems: int | None = None

class ListRoleTagsResponse(msgspec.Struct, kw_only=True):
    Tags: list[Tag] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListRolesRequest(msgspec.Struct, kw_only=True):
    PathPrefix: str | None = None
    Marker: str | None = None
    MaxItems: int | None = None

class ListRolesResponse(msgspec.Struct, kw_only=True):
    Roles: list[Role] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListSSHPublicKeysRequest(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    Marker: str | None = None
    MaxItems: int | None = None

class ListSSHPublicKeysResponse(msgspec.Struct, kw_only=True):
    SSHPublicKeys: list[SSHPublicKeyMetadata] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListServiceSpecificCredentialsRequest(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    ServiceName: str | None = None
    AllUsers: bool | None = None
    Marker: str | None = None
    MaxItems: int | None = None

class ListServiceSpecificCredentialsResponse(msgspec.Struct, kw_only=True):
    ServiceSpecificCredentials: list[ServiceSpecificCredentialMetadata] | None = None
    Marker: str | None = None
    IsTruncated: bool | None = None

class ListSigningCertificatesRequest(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    Marker: str | None = None
    MaxItems: int | None = None

class ListSigningCertificatesResponse(msgspec.Struct, kw_only=True):
    Certificates: list[SigningCertificate] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListUserPoliciesRequest(msgspec.Struct, kw_only=True):
    UserName: str
    Marker: str | None = None
    MaxItems: int | None = None

class ListUserPoliciesResponse(msgspec.Struct, kw_only=True):
    PolicyNames: list[str] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListUserTagsRequest(msgspec.Struct, kw_only=True):
    UserName: str
    Marker: str | None = None
    MaxItems: int | None = None

class ListUserTagsResponse(msgspec.Struct, kw_only=True):
    Tags: list[Tag] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListUsersRequest(msgspec.Struct, kw_only=True):
    PathPrefix: str | None = None
    Marker: str | None = None
    MaxItems: int | None = None

class ListUsersResponse(msgspec.Struct, kw_only=True):
    Users: list[User] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class ListVirtualMFADevicesRequest(msgspec.Struct, kw_only=True):
    AssignmentStatus: str | None = None
    Marker: str | None = None
    MaxItems: int | None = None

class ListVirtualMFADevicesResponse(msgspec.Struct, kw_only=True):
    VirtualMFADevices: list[VirtualMFADevice] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class LoginProfile(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    CreateDate: str | float | None = None
    PasswordResetRequired: bool | None = None

class MFADevice(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    SerialNumber: str | None = None
    EnableDate: str | float | None = None

class ManagedPolicyDetail(msgspec.Struct, kw_only=True):
    PolicyName: str | None = None
    PolicyId: str | None = None
    Arn: str | None = None
    Path: str | None = None
    DefaultVersionId: str | None = None
    AttachmentCount: int | None = None
    PermissionsBoundaryUsageCount: int | None = None
    IsAttachable: bool | None = None
    Description: str | None = None
    CreateDate: str | float | None = None
    UpdateDate: str | float | None = None
    PolicyVersionList: list[PolicyVersion] | None = None

class OrderedOrganizationPolicyType(msgspec.Struct, kw_only=True):
    ServiceControlPolicyInputList: list[str] | None = None

class OrganizationsDecisionDetail(msgspec.Struct, kw_only=True):
    AllowedByOrganizations: bool | None = None

class PermissionsBoundaryDecisionDetail(msgspec.Struct, kw_only=True):
    AllowedByPermissionsBoundary: bool | None = None

class Policy(msgspec.Struct, kw_only=True):
    PolicyName: str | None = None
    PolicyId: str | None = None
    Arn: str | None = None
    Path: str | None = None
    DefaultVersionId: str | None = None
    AttachmentCount: int | None = None
    PermissionsBoundaryUsageCount: int | None = None
    IsAttachable: bool | None = None
    Description: str | None = None
    CreateDate: str | float | None = None
    UpdateDate: str | float | None = None
    Tags: list[Tag] | None = None

class PolicyDetail(msgspec.Struct, kw_only=True):
    PolicyName: str | None = None
    PolicyDocument: str | None = None

class PolicyGroup(msgspec.Struct, kw_only=True):
    GroupName: str | None = None
    GroupId: str | None = None

class PolicyIdentifier(msgspec.Struct, kw_only=True):
    PolicyType: str | None = None
    PolicyArn: str | None = None
    InlinePolicyIdentifier: InlinePolicyIdentifierType | None = None

class PolicyRole(msgspec.Struct, kw_only=True):
    RoleName: str | None = None
    RoleId: str | None = None

class PolicyUser(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    UserId: str | None = None

class PolicyVersion(msgspec.Struct, kw_only=True):
    Document: str | None = None
    VersionId: str | None = None
    IsDefaultVersion: bool | None = None
    CreateDate: str | float | None = None

class Position(msgspec.Struct, kw_only=True):
    Line: int | None = None
    Column: int | None = None

class PutGroupPolicyRequest(msgspec.Struct, kw_only=True):
    GroupName: str
    PolicyName: str
    PolicyDocument: str

class PutRolePermissionsBoundaryRequest(msgspec.Struct, kw_only=True):
    RoleName: str
    PermissionsBoundary: str

class PutRolePolicyRequest(msgspec.Struct, kw_only=True):
    RoleName: str
    PolicyName: str
    PolicyDocument: str

class PutUserPermissionsBoundaryRequest(msgspec.Struct, kw_only=True):
    UserName: str
    PermissionsBoundary: str

class PutUserPolicyRequest(msgspec.Struct, kw_only=True):
    UserName: str
    PolicyName: str
    PolicyDocument: str

class RemoveUserFromGroupRequest(msgspec.Struct, kw_only=True):
    GroupName: str
    UserName: str

class ResourceSpecificResult(msgspec.Struct, kw_only=True):
    EvalResourceName: str | None = None
    EvalResourceDecision: str | None = None
    MatchedStatements: list[Statement] | None = None
    MissingContextValues: list[str] | None = None
    EvalDecisionDetails: dict[str, str] | None = None
    PermissionsBoundaryDecisionDetail: PermissionsBoundaryDecisionDetail | None = None

class Role(msgspec.Struct, kw_only=True):
    Path: str | None = None
    RoleName: str | None = None
    RoleId: str | None = None
    Arn: str | None = None
    CreateDate: str | float | None = None
    AssumeRolePolicyDocument: str | None = None
    Description: str | None = None
    MaxSessionDuration: int | None = None
    PermissionsBoundary: AttachedPermissionsBoundary | None = None
    Tags: list[Tag] | None = None
    RoleLastUsed: RoleLastUsed | None = None
    SourceRoleTemplate: SourceRoleTemplate | None = None

class RoleDetail(msgspec.Struct, kw_only=True):
    Path: str | None = None
    RoleName: str | None = None
    RoleId: str | None = None
    Arn: str | None = None
    CreateDate: str | float | None = None
    AssumeRolePolicyDocument: str | None = None
    InstanceProfileList: list[InstanceProfile] | None = None
    RolePolicyList: list[PolicyDetail] | None = None
    AttachedManagedPolicies: list[AttachedPolicy] | None = None
    PermissionsBoundary: AttachedPermissionsBoundary | None = None
    Tags: list[Tag] | None = None
    RoleLastUsed: RoleLastUsed | None = None

class RoleLastUsed(msgspec.Struct, kw_only=True):
    LastUsedDate: str | float | None = None
    Region: str | None = None

class SSHPublicKeyMetadata(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    SSHPublicKeyId: str | None = None
    Status: str | None = None
    UploadDate: str | float | None = None

class ServiceSpecificCredentialMetadata(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    Status: str | None = None
    ServiceUserName: str | None = None
    ServiceCredentialAlias: str | None = None
    CreateDate: str | float | None = None
    ExpirationDate: str | float | None = None
    ServiceSpecificCredentialId: str | None = None
    ServiceName: str | None = None

class SetDefaultPolicyVersionRequest(msgspec.Struct, kw_only=True):
    PolicyArn: str
    VersionId: str

class SigningCertificate(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    CertificateId: str | None = None
    CertificateBody: str | None = None
    Status: str | None = None
    UploadDate: str | float | None = None

class SimulateCustomPolicyRequest(msgspec.Struct, kw_only=True):
    PolicyInputList: list[str]
    PermissionsBoundaryPolicyInputList: list[str] | None = None
    OrderedOrganizationPolicyInputList: list[OrderedOrganizationPolicyType] | None = None
    ActionNames: list[str]
    ResourceArns: list[str] | None = None
    ResourcePolicy: str | None = None
    ResourceOwner: str | None = None
    CallerArn: str | None = None
    ContextEntries: list[ContextEntry] | None = None
    ResourceHandlingOption: str | None = None
    MaxItems: int | None = None
    Marker: str | None = None

class SimulatePolicyResponse(msgspec.Struct, kw_only=True):
    EvaluationResults: list[EvaluationResult] | None = None
    IsTruncated: bool | None = None
    Marker: str | None = None

class SimulatePrincipalPolicyRequest(msgspec.Struct, kw_only=True):
    PolicySourceArn: str
    PolicyInputList: list[str] | None = None
    PermissionsBoundaryPolicyInputList: list[str] | None = None
    PolicyExclusionList: list[PolicyIdentifier] | None = None
    ActionNames: list[str]
    ResourceArns: list[str] | None = None
    ResourcePolicy: str | None = None
    ResourceOwner: str | None = None
    CallerArn: str | None = None
    ContextEntries: list[ContextEntry] | None = None
    ResourceHandlingOption: str | None = None
    MaxItems: int | None = None
    Marker: str | None = None

class SourceRoleTemplate(msgspec.Struct, kw_only=True):
    TemplateArn: str | None = None
    TemplateMinorVersion: int | None = None

class Statement(msgspec.Struct, kw_only=True):
    SourcePolicyId: str | None = None
    SourcePolicyType: str | None = None
    StartPosition: Position | None = None
    EndPosition: Position | None = None

class Tag(msgspec.Struct, kw_only=True):
    Key: str
    Value: str

class TagPolicyRequest(msgspec.Struct, kw_only=True):
    PolicyArn: str
    Tags: list[Tag]

class TagRoleRequest(msgspec.Struct, kw_only=True):
    RoleName: str
    Tags: list[Tag]

class TagUserRequest(msgspec.Struct, kw_only=True):
    UserName: str
    Tags: list[Tag]

class UntagPolicyRequest(msgspec.Struct, kw_only=True):
    PolicyArn: str
    TagKeys: list[str]

class UntagRoleRequest(msgspec.Struct, kw_only=True):
    RoleName: str
    TagKeys: list[str]

class UntagUserRequest(msgspec.Struct, kw_only=True):
    UserName: str
    TagKeys: list[str]

class UpdateAccessKeyRequest(msgspec.Struct, kw_only=True):
    UserName: str | None = None
    AccessKeyId: str
    Status: str

class UpdateAssumeRolePolicyRequest(msgspec.Struct, kw_only=True):
    RoleName: str
    PolicyDocument: str

class UpdateGroupRequest(msgspec.Struct, kw_only=True):
    GroupName: str
    NewPath: str | None = None
    NewGroupName: str | None = None

class UpdateRoleDescriptionRequest(msgspec.Struct, kw_only=True):
    RoleName: str
    Description: str

class UpdateRoleDescriptionResponse(msgspec.Struct, kw_only=True):
    Role: Role | None = None

class UpdateRoleRequest(msgspec.Struct, kw_only=True):
    RoleName: str
    Description: str | None = None
    MaxSessionDuration: int | None = None

class UpdateRoleResponse(msgspec.Struct, kw_only=True):
    pass

class UpdateUserRequest(msgspec.Struct, kw_only=True):
    UserName: str
    NewPath: str | None = None
    NewUserName: str | None = None

class User(msgspec.Struct, kw_only=True):
    Path: str | None = None
    UserName: str | None = None
    UserId: str | None = None
    Arn: str | None = None
    CreateDate: str | float | None = None
    PasswordLastUsed: str | float | None = None
    PermissionsBoundary: AttachedPermissionsBoundary | None = None
    Tags: list[Tag] | None = None

class UserDetail(msgspec.Struct, kw_only=True):
    Path: str | None = None
    UserName: str | None = None
    UserId: str | None = None
    Arn: str | None = None
    CreateDate: str | float | None = None
    UserPolicyList: list[PolicyDetail] | None = None
    GroupList: list[str] | None = None
    AttachedManagedPolicies: list[AttachedPolicy] | None = None
    PermissionsBoundary: AttachedPermissionsBoundary | None = None
    Tags: list[Tag] | None = None

class VirtualMFADevice(msgspec.Struct, kw_only=True):
    SerialNumber: str | None = None
    Base32StringSeed: bytes | None = None
    QRCodePNG: bytes | None = None
    User: User | None = None
    EnableDate: str | float | None = None
    Tags: list[Tag] | None = None
