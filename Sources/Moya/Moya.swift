#if canImport(FoundationNetworking)
// Source that was written for Apple's platforms expects `URLRequest` in Foundation.
@_exported public import FoundationNetworking
#endif

/// The names of this module, for source that qualifies them with the name of the module Moya.
public enum Moya {
    /// See ``PipelineMoya/AccessTokenAuthorizable``.
    public typealias AccessTokenAuthorizable = PipelineMoya.AccessTokenAuthorizable
    /// See ``PipelineMoya/AccessTokenPlugin``.
    public typealias AccessTokenPlugin = PipelineMoya.AccessTokenPlugin
    /// See ``PipelineMoya/AuthorizationType``.
    public typealias AuthorizationType = PipelineMoya.AuthorizationType
    /// See ``PipelineMoya/Cancellable``.
    public typealias Cancellable = PipelineMoya.Cancellable
    /// See ``PipelineMoya/CancellableToken``.
    public typealias CancellableToken = PipelineMoya.CancellableToken
    /// See ``PipelineMoya/Completion``.
    public typealias Completion = PipelineMoya.Completion
    /// See ``PipelineMoya/CredentialsPlugin``.
    public typealias CredentialsPlugin = PipelineMoya.CredentialsPlugin
    /// See ``PipelineMoya/DownloadDestination``.
    public typealias DownloadDestination = PipelineMoya.DownloadDestination
    /// See ``PipelineMoya/Endpoint``.
    public typealias Endpoint = PipelineMoya.Endpoint
    /// See ``PipelineMoya/EndpointSampleResponse``.
    public typealias EndpointSampleResponse = PipelineMoya.EndpointSampleResponse
    #if canImport(UIKit) || canImport(AppKit)
    /// See ``PipelineMoya/Image``.
    public typealias Image = PipelineMoya.Image
    #endif
    /// See ``PipelineMoya/JSONEncoding``.
    public typealias JSONEncoding = PipelineMoya.JSONEncoding
    /// See ``PipelineMoya/Method``.
    public typealias Method = PipelineMoya.Method
    /// See ``PipelineMoya/MoyaError``.
    public typealias MoyaError = PipelineMoya.MoyaError
    /// See ``PipelineMoya/MoyaProvider``.
    public typealias MoyaProvider = PipelineMoya.MoyaProvider
    /// See ``PipelineMoya/MoyaProviderType``.
    public typealias MoyaProviderType = PipelineMoya.MoyaProviderType
    /// See ``PipelineMoya/MultiTarget``.
    public typealias MultiTarget = PipelineMoya.MultiTarget
    /// See ``PipelineMoya/MultipartFormBodyPart``.
    public typealias MultipartFormBodyPart = PipelineMoya.MultipartFormBodyPart
    /// See ``PipelineMoya/MultipartFormData``.
    public typealias MultipartFormData = PipelineMoya.MultipartFormData
    /// See ``PipelineMoya/NetworkActivityChangeType``.
    public typealias NetworkActivityChangeType = PipelineMoya.NetworkActivityChangeType
    /// See ``PipelineMoya/NetworkActivityPlugin``.
    public typealias NetworkActivityPlugin = PipelineMoya.NetworkActivityPlugin
    /// See ``PipelineMoya/NetworkLoggerPlugin``.
    public typealias NetworkLoggerPlugin = PipelineMoya.NetworkLoggerPlugin
    /// See ``PipelineMoya/ParameterEncoding``.
    public typealias ParameterEncoding = PipelineMoya.ParameterEncoding
    /// See ``PipelineMoya/PluginType``.
    public typealias PluginType = PipelineMoya.PluginType
    /// See ``PipelineMoya/ProgressBlock``.
    public typealias ProgressBlock = PipelineMoya.ProgressBlock
    /// See ``PipelineMoya/ProgressResponse``.
    public typealias ProgressResponse = PipelineMoya.ProgressResponse
    /// See ``PipelineMoya/RequestType``.
    public typealias RequestType = PipelineMoya.RequestType
    /// See ``PipelineMoya/Response``.
    public typealias Response = PipelineMoya.Response
    /// See ``PipelineMoya/StubBehavior``.
    public typealias StubBehavior = PipelineMoya.StubBehavior
    /// See ``PipelineMoya/TargetType``.
    public typealias TargetType = PipelineMoya.TargetType
    /// See ``PipelineMoya/Task``.
    public typealias Task = PipelineMoya.Task
    /// See ``PipelineMoya/URLEncoding``.
    public typealias URLEncoding = PipelineMoya.URLEncoding
    /// See ``PipelineMoya/ValidationType``.
    public typealias ValidationType = PipelineMoya.ValidationType
}
