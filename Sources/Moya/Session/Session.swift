public import Dispatch
public import PipelineCore
import PipelineTransports
import Synchronization

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// The network side of a provider, with the name of Alamofire's session.
@available(swift, deprecated: 7, message: "Pass a URLSessionTransport as the transport.")
// Its properties are constants; the configuration is a copy that nothing changes.
open class Session: @unchecked Sendable {
    /// A session for code that shares one.
    public static let `default` = Session()

    /// The transport of the native provider.
    public let transport: any Transport

    /// The configuration of the session; with a transport of your own, Foundation's default configuration, unused.
    public let sessionConfiguration: URLSessionConfiguration

    /// Adapts each request after the plugins have prepared it, and decides about retries.
    ///
    /// A retry runs the plugins' `prepare` and `willSend` again. It takes no part in stubs or in calls of the native
    /// provider.
    public let interceptor: (any RequestInterceptor)?

    let requests = SessionRequests()

    /// Creates a session that sends requests with a `URLSessionTransport`.
    ///
    /// - Parameters:
    ///   - configuration: how the session connects; it is copied.
    ///   - startRequestsImmediately: is ignored, because requests always start at once.
    ///   - interceptor: adapts and retries requests; defaults to none.
    public init(
        configuration: URLSessionConfiguration = .default,
        startRequestsImmediately: Bool = true,
        interceptor: (any RequestInterceptor)? = nil
    ) {
        transport = URLSessionTransport(configuration: configuration)
        sessionConfiguration = configuration.copy() as? URLSessionConfiguration ?? configuration
        self.interceptor = interceptor
    }

    /// Creates a session that sends requests with a transport.
    public init(transport: any Transport, interceptor: (any RequestInterceptor)? = nil) {
        self.transport = transport
        sessionConfiguration = .default
        self.interceptor = interceptor
    }

    /// Cancels the requests that are in progress; their completions are called.
    ///
    /// - Parameters:
    ///   - queue: the queue of `completion`.
    ///   - completion: is called when all requests have been cancelled.
    public func cancelAllRequests(
        completingOnQueue queue: DispatchQueue = .main,
        completion: (@Sendable () -> Void)? = nil
    ) {
        requests.cancel()
        if let completion { queue.async(execute: completion) }
    }

    /// The part of Foundation's session that code for Alamofire uses.
    public var session: UnderlyingSession { UnderlyingSession(owner: self) }

    /// The part of Foundation's session that code for Alamofire uses.
    public struct UnderlyingSession: Sendable {
        let owner: Session

        /// The configuration of the session.
        public var configuration: URLSessionConfiguration { owner.sessionConfiguration }

        /// Cancels the requests that are in progress.
        ///
        /// Later requests fail with ``AFError/sessionInvalidated(error:)``.
        public func invalidateAndCancel() { owner.requests.invalidate() }
    }

    /// The header fields that the configuration adds to every request.
    var headers: [String: String] {
        sessionConfiguration.httpAdditionalHeaders as? [String: String] ?? [:]
    }
}

/// The requests of a session that are in progress.
final class SessionRequests: Sendable {
    private struct State {
        var isInvalid = false
        var count = 0
        var requests: [Int: RequestCancellable] = [:]
    }

    private let state = Mutex(State())

    /// Adds a request and returns its key; `nil` if the session is invalid.
    func add(_ request: RequestCancellable) -> Int? {
        state.withLock { state in
            guard !state.isInvalid else { return nil }
            state.count += 1
            state.requests[state.count] = request
            return state.count
        }
    }

    func remove(_ key: Int) {
        state.withLock { $0.requests[key] = nil }
    }

    func cancel() {
        for request in state.withLock({ $0.requests.values.map(\.self) }) { request.cancel() }
    }

    func invalidate() {
        state.withLock { $0.isInvalid = true }
        cancel()
    }
}
