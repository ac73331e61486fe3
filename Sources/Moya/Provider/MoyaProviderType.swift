public import Dispatch

/// A closure that receives the result of a request.
@available(swift, deprecated: 7, message: "Use a closure for Result<PipelineResponse, PipelineError>.")
public typealias Completion = (_ result: Result<Moya.Response, MoyaError>) -> Void

/// A closure that receives the steps of a request's progress.
@available(swift, deprecated: 7, message: "Use a closure for ProgressResponse of Pipeline.")
public typealias ProgressBlock = (_ progress: ProgressResponse) -> Void

/// A provider, for wrappers.
@available(swift, deprecated: 7, message: "Use Provider<Target>.")
public protocol MoyaProviderType: AnyObject {
    /// The type of the targets.
    associatedtype Target: TargetType

    /// Sends a target and calls a closure with the result.
    func request(
        _ target: Target,
        callbackQueue: DispatchQueue?,
        progress: Moya.ProgressBlock?,
        completion: @escaping Moya.Completion
    ) -> any Cancellable
}

/// How a target is stubbed.
@available(swift, deprecated: 7, message: "Pass a StubTransport as the transport.")
public enum StubBehavior: Equatable, Sendable {
    /// The target is sent.
    case never
    /// The sample response is returned at once.
    case immediate
    /// The sample response is returned after a delay.
    case delayed(seconds: Double)
}
