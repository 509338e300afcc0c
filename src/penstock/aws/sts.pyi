# Written by `make stubs` from the service model of sts (2011-06-15). Do not edit.
import msgspec

from penstock.aws.contract import Service

SERVICE: Service

class AssumeRoleRequest(msgspec.Struct, kw_only=True):
    RoleArn: str
    RoleSessionName: str
    PolicyArns: list[PolicyDescriptorType] | None = None
    Policy: str | None = None
    DurationSeconds: int | None = None
    Tags: list[Tag] | None = None
    TransitiveTagKeys: list[str] | None = None
    ExternalId: str | None = None
    SerialNumber: str | None = None
    TokenCode: str | None = None
    SourceIdentity: str | None = None
    ProvidedContexts: list[ProvidedContext] | None = None
    MinimumSessionTokenSize: int | None = None

class AssumeRoleResponse(msgspec.Struct, kw_only=True):
    Credentials: Credentials | None = None
    AssumedRoleUser: AssumedRoleUser | None = None
    PackedPolicySize: int | None = None
    SourceIdentity: str | None = None
    SessionTokenUtilization: int | None = None
    SessionTokenSize: int | None = None

class AssumeRoleWithSAMLRequest(msgspec.Struct, kw_only=True):
    RoleArn: str
    PrincipalArn: str
    SAMLAssertion: str
    PolicyArns: list[PolicyDescriptorType] | None = None
    Policy: str | None = None
    DurationSeconds: int | None = None
    MinimumSessionTokenSize: int | None = None

class AssumeRoleWithSAMLResponse(msgspec.Struct, kw_only=True):
    Credentials: Credentials | None = None
    AssumedRoleUser: AssumedRoleUser | None = None
    PackedPolicySize: int | None = None
    Subject: str | None = None
    SubjectType: str | None = None
    Issuer: str | None = None
    Audience: str | None = None
    NameQualifier: str | None = None
    SourceIdentity: str | None = None
    SessionTokenUtilization: int | None = None
    SessionTokenSize: int | None = None

class AssumeRoleWithWebIdentityRequest(msgspec.Struct, kw_only=True):
    RoleArn: str
    RoleSessionName: str
    WebIdentityToken: str
    ProviderId: str | None = None
    PolicyArns: list[PolicyDescriptorType] | None = None
    Policy: str | None = None
    DurationSeconds: int | None = None
    MinimumSessionTokenSize: int | None = None

class AssumeRoleWithWebIdentityResponse(msgspec.Struct, kw_only=True):
    Credentials: Credentials | None = None
    SubjectFromWebIdentityToken: str | None = None
    AssumedRoleUser: AssumedRoleUser | None = None
    PackedPolicySize: int | None = None
    Provider: str | None = None
    Audience: str | None = None
    SourceIdentity: str | None = None
    SessionTokenUtilization: int | None = None
    SessionTokenSize: int | None = None

class AssumeRootRequest(msgspec.Struct, kw_only=True):
    TargetPrincipal: str
    TaskPolicyArn: PolicyDescriptorType
    DurationSeconds: int | None = None
    MinimumSessionTokenSize: int | None = None

class AssumeRootResponse(msgspec.Struct, kw_only=True):
    Credentials: Credentials | None = None
    SourceIdentity: str | None = None
    SessionTokenUtilization: int | None = None
    SessionTokenSize: int | None = None

class AssumedRoleUser(msgspec.Struct, kw_only=True):
    AssumedRoleId: str | None = None
    Arn: str | None = None

class Credentials(msgspec.Struct, kw_only=True):
    AccessKeyId: str | None = None
    SecretAccessKey: str | None = None
    SessionToken: str | None = None
    Expiration: str | float | None = None

class DecodeAuthorizationMessageRequest(msgspec.Struct, kw_only=True):
    EncodedMessage: str

class DecodeAuthorizationMessageResponse(msgspec.Struct, kw_only=True):
    DecodedMessage: str | None = None

class FederatedUser(msgspec.Struct, kw_only=True):
    FederatedUserId: str | None = None
    Arn: str | None = None

class GetAccessKeyInfoRequest(msgspec.Struct, kw_only=True):
    AccessKeyId: str

class GetAccessKeyInfoResponse(msgspec.Struct, kw_only=True):
    Account: str | None = None

class GetCallerIdentityRequest(msgspec.Struct, kw_only=True):
    pass

class GetCallerIdentityResponse(msgspec.Struct, kw_only=True):
    UserId: str | None = None
    Account: str | None = None
    Arn: str | None = None

class GetDelegatedAccessTokenRequest(msgspec.Struct, kw_only=True):
    TradeInToken: str

class GetDelegatedAccessTokenResponse(msgspec.Struct, kw_only=True):
    Credentials: Credentials | None = None
    PackedPolicySize: int | None = None
    AssumedPrincipal: str | None = None

class GetFederationTokenRequest(msgspec.Struct, kw_only=True):
    Name: str
    Policy: str | None = None
    PolicyArns: list[PolicyDescriptorType] | None = None
    DurationSeconds: int | None = None
    Tags: list[Tag] | None = None
    MinimumSessionTokenSize: int | None = None

class GetFederationTokenResponse(msgspec.Struct, kw_only=True):
    Credentials: Credentials | None = None
    FederatedUser: FederatedUser | None = None
    PackedPolicySize: int | None = None
    SessionTokenUtilization: int | None = None
    SessionTokenSize: int | None = None

class GetSessionTokenRequest(msgspec.Struct, kw_only=True):
    DurationSeconds: int | None = None
    SerialNumber: str | None = None
    TokenCode: str | None = None
    MinimumSessionTokenSize: int | None = None

class GetSessionTokenResponse(msgspec.Struct, kw_only=True):
    Credentials: Credentials | None = None
    SessionTokenUtilization: int | None = None
    SessionTokenSize: int | None = None

class GetWebIdentityTokenRequest(msgspec.Struct, kw_only=True):
    Audience: list[str]
    DurationSeconds: int | None = None
    SigningAlgorithm: str
    Tags: list[Tag] | None = None

class GetWebIdentityTokenResponse(msgspec.Struct, kw_only=True):
    WebIdentityToken: str | None = None
    Expiration: str | float | None = None

class PolicyDescriptorType(msgspec.Struct, kw_only=True):
    arn: str | None = None

class ProvidedContext(msgspec.Struct, kw_only=True):
    ProviderArn: str | None = None
    ContextAssertion: str | None = None

class Tag(msgspec.Struct, kw_only=True):
    Key: str
    Value: str
