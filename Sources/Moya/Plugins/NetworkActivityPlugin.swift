/// Whether a request begins or ends.
@available(swift, deprecated: 7, message: "Use ActivityPlugin.")
public enum NetworkActivityChangeType: Sendable {
    /// The request is about to be sent.
    case began
    /// The request has a result.
    case ended
}

/// A plugin that calls a closure when a request begins and when it ends.
@available(swift, deprecated: 7, message: "Use ActivityPlugin.")
public final class NetworkActivityPlugin: PluginType {
    /// Observes the beginning or the end of a request.
    public typealias NetworkActivityClosure = (_ change: NetworkActivityChangeType, _ target: any TargetType) -> Void

    private let networkActivityClosure: NetworkActivityClosure

    /// Creates a plugin that calls a closure for each request.
    public init(networkActivityClosure: @escaping NetworkActivityClosure) {
        self.networkActivityClosure = networkActivityClosure
    }

    /// Reports that the request begins.
    public func willSend(_ request: any RequestType, target: any TargetType) {
        networkActivityClosure(.began, target)
    }

    /// Reports the end, also of a request that was cancelled.
    public func didReceive(_ result: Result<Moya.Response, MoyaError>, target: any TargetType) {
        networkActivityClosure(.ended, target)
    }
}
