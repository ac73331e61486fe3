// Source that imports only Moya uses `URL` and `Data`. With one import, the names of this module also come before those
// of Pipeline and PipelinePlugins.
@_exported public import Foundation
@_exported public import Pipeline

#if canImport(FoundationNetworking)
// Source that was written for Apple's platforms expects `URLRequest` in Foundation.
@_exported public import FoundationNetworking
#endif

/// The names of this module, for source that qualifies them with the name of the module Moya.
@available(swift, deprecated: 7, message: "Write the names without Moya.")
public enum Moya {
    /// The same as ``PipelineMoya/AccessTokenAuthorizable``, qualified with `Moya`.
    public typealias AccessTokenAuthorizable = PipelineMoya.AccessTokenAuthorizable
    /// The same as ``PipelineMoya/AccessTokenPlugin``, qualified with `Moya`.
    public typealias AccessTokenPlugin = PipelineMoya.AccessTokenPlugin
    /// The same as ``PipelineMoya/AuthorizationType``, qualified with `Moya`.
    public typealias AuthorizationType = PipelineMoya.AuthorizationType
    /// The same as ``PipelineMoya/Cancellable``, qualified with `Moya`.
    public typealias Cancellable = PipelineMoya.Cancellable
    /// The same as ``PipelineMoya/CancellableToken``, qualified with `Moya`.
    public typealias CancellableToken = PipelineMoya.CancellableToken
    /// The same as ``PipelineMoya/Completion``, qualified with `Moya`.
    public typealias Completion = PipelineMoya.Completion
    /// The same as ``PipelineMoya/CredentialsPlugin``, qualified with `Moya`.
    public typealias CredentialsPlugin = PipelineMoya.CredentialsPlugin
    /// The same as ``PipelineMoya/DownloadDestination``, qualified with `Moya`.
    public typealias DownloadDestination = PipelineMoya.DownloadDestination
    /// The same as ``PipelineMoya/Endpoint``, qualified with `Moya`.
    public typealias Endpoint = PipelineMoya.Endpoint
    /// The same as ``PipelineMoya/EndpointSampleResponse``, qualified with `Moya`.
    public typealias EndpointSampleResponse = PipelineMoya.EndpointSampleResponse
    #if canImport(UIKit) || canImport(AppKit)
    /// The same as ``PipelineMoya/Image``, qualified with `Moya`.
    public typealias Image = PipelineMoya.Image
    #endif
    /// The same as ``PipelineMoya/JSONEncoding``, qualified with `Moya`.
    public typealias JSONEncoding = PipelineMoya.JSONEncoding
    /// The same as ``PipelineMoya/Method``, qualified with `Moya`.
    public typealias Method = PipelineMoya.Method
    /// The same as ``PipelineMoya/MoyaError``, qualified with `Moya`.
    public typealias MoyaError = PipelineMoya.MoyaError
    /// The same as ``PipelineMoya/MoyaProvider``, qualified with `Moya`.
    public typealias MoyaProvider = PipelineMoya.MoyaProvider
    /// The same as ``PipelineMoya/MoyaProviderType``, qualified with `Moya`.
    public typealias MoyaProviderType = PipelineMoya.MoyaProviderType
    /// The same as ``PipelineMoya/MultiTarget``, qualified with `Moya`.
    public typealias MultiTarget = PipelineMoya.MultiTarget
    /// The same as ``PipelineMoya/MultipartFormBodyPart``, qualified with `Moya`.
    public typealias MultipartFormBodyPart = PipelineMoya.MultipartFormBodyPart
    /// The same as ``PipelineMoya/MultipartFormData``, qualified with `Moya`.
    public typealias MultipartFormData = PipelineMoya.MultipartFormData
    /// The same as ``PipelineMoya/NetworkActivityChangeType``, qualified with `Moya`.
    public typealias NetworkActivityChangeType = PipelineMoya.NetworkActivityChangeType
    /// The same as ``PipelineMoya/NetworkActivityPlugin``, qualified with `Moya`.
    public typealias NetworkActivityPlugin = PipelineMoya.NetworkActivityPlugin
    /// The same as ``PipelineMoya/NetworkLoggerPlugin``, qualified with `Moya`.
    public typealias NetworkLoggerPlugin = PipelineMoya.NetworkLoggerPlugin
    /// The same as ``PipelineMoya/ParameterEncoding``, qualified with `Moya`.
    public typealias ParameterEncoding = PipelineMoya.ParameterEncoding
    /// The same as ``PipelineMoya/PluginType``, qualified with `Moya`.
    public typealias PluginType = PipelineMoya.PluginType
    /// The same as ``PipelineMoya/ProgressBlock``, qualified with `Moya`.
    public typealias ProgressBlock = PipelineMoya.ProgressBlock
    /// The same as ``PipelineMoya/ProgressResponse``, qualified with `Moya`.
    public typealias ProgressResponse = PipelineMoya.ProgressResponse
    /// The same as ``PipelineMoya/RequestType``, qualified with `Moya`.
    public typealias RequestType = PipelineMoya.RequestType
    /// The same as ``PipelineMoya/Response``, qualified with `Moya`.
    public typealias Response = PipelineMoya.Response
    /// The same as ``PipelineMoya/Session``, qualified with `Moya`.
    public typealias Session = PipelineMoya.Session
    /// The same as ``PipelineMoya/StubBehavior``, qualified with `Moya`.
    public typealias StubBehavior = PipelineMoya.StubBehavior
    /// The same as ``PipelineMoya/TargetType``, qualified with `Moya`.
    public typealias TargetType = PipelineMoya.TargetType
    /// The same as ``PipelineMoya/Task``, qualified with `Moya`.
    public typealias Task = PipelineMoya.Task
    /// The same as ``PipelineMoya/URLEncoding``, qualified with `Moya`.
    public typealias URLEncoding = PipelineMoya.URLEncoding
    /// The same as ``PipelineMoya/ValidationType``, qualified with `Moya`.
    public typealias ValidationType = PipelineMoya.ValidationType
}
