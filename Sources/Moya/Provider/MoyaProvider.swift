public import Dispatch
import HTTPTypes
public import PipelineCore
import PipelinePlugins

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A client that sends targets through plugins to a transport, with the interface of Moya's provider.
///
/// The native provider sends the requests; ``provider`` returns it, for code that no longer needs this interface.
///
/// **Effects**: endpoint, task and parameters are read on the caller's thread, before `request` returns. For a request
/// that is sent, `prepare` and `willSend` of the plugins run on a background thread. Their other methods, progress and
/// completion run on the callback queue, which defaults to the main queue.
///
/// A `timeoutInterval` of a request other than 60 s limits the wait for the header fields of the response, and each
/// wait for more bytes of its body. For a value of 60 s, the default, and for longer ones, the limit of the transport
/// applies as well.
@available(swift, deprecated: 7, message: "Use Provider<Target>.")
// Its own state never changes or is guarded; closures and plugins are called from several threads, as in Moya.
open class MoyaProvider<Target: TargetType>: MoyaProviderType, @unchecked Sendable {
    /// Makes the endpoint of a target.
    public typealias EndpointClosure = (Target) -> Endpoint

    /// Receives the request of an endpoint, or the error that prevents it.
    public typealias RequestResultClosure = @Sendable (Result<URLRequest, MoyaError>) -> Void

    /// Makes the request of an endpoint, now or later.
    public typealias RequestClosure = (Endpoint, @escaping RequestResultClosure) -> Void

    /// Decides how a target is stubbed.
    public typealias StubClosure = (Target) -> Moya.StubBehavior

    /// Makes the endpoint of a target.
    public let endpointClosure: EndpointClosure

    /// Makes the request of an endpoint.
    public let requestClosure: RequestClosure

    /// Decides how a target is stubbed.
    public let stubClosure: StubClosure

    /// The network side of the provider.
    public let session: Session

    /// The plugins, in the order in which they run.
    public let plugins: [any PluginType]

    /// Whether equal GET and HEAD requests that are in progress at the same time are sent once.
    public let trackInflights: Bool

    /// The native provider, with the transport and the plugins of Pipeline of this provider.
    ///
    /// Its calls do not run the other plugins. With ``trackInflights``, its equal calls are sent once, too.
    public let provider: Provider<PipelineCore.MultiTarget>

    let callbackQueue: DispatchQueue?
    let inflights = InflightRequests()
    let deduplication: DeduplicationPlugin?
    /// The plugins other than those of Pipeline.
    let ownPlugins: [any PluginType]

    /// Creates a provider.
    ///
    /// - Parameters:
    ///   - endpointClosure: makes the endpoint of a target; called for every request.
    ///   - requestClosure: makes the request of an endpoint.
    ///   - stubClosure: decides how a target is stubbed; called for every request.
    ///   - callbackQueue: the queue of progress and completions; `nil` for the main queue.
    ///   - session: sends the requests.
    ///   - plugins: the plugins, in the order in which they run. Plugins of Pipeline run inside all others.
    ///   - trackInflights: whether equal GET and HEAD requests that are in progress at the same time are sent once.
    ///     Requests are compared after all plugins have prepared them. Each call runs the plugins, and cancelling it
    ///     does not affect the others. A call that downloads or reports progress is sent separately.
    public init(
        endpointClosure: @escaping EndpointClosure = MoyaProvider.defaultEndpointMapping,
        requestClosure: @escaping RequestClosure = MoyaProvider.defaultRequestMapping,
        stubClosure: @escaping StubClosure = MoyaProvider.neverStub,
        callbackQueue: DispatchQueue? = nil,
        session: Session = MoyaProvider<Target>.defaultAlamofireSession(),
        plugins: [any PluginType] = [],
        trackInflights: Bool = false
    ) {
        self.endpointClosure = endpointClosure
        self.requestClosure = requestClosure
        self.stubClosure = stubClosure
        self.callbackQueue = callbackQueue
        self.session = session
        self.plugins = plugins
        self.trackInflights = trackInflights
        let native = plugins.compactMap { ($0 as? NativePlugin)?.plugin ?? $0 as? any PipelineCore.PluginType }
        ownPlugins = plugins.filter { !($0 is NativePlugin || $0 is any PipelineCore.PluginType) }
        var stages: [any PipelineCore.PluginType] = session.interceptor.map { [RetrierStage(retrier: $0)] } ?? []
        if !ownPlugins.isEmpty || session.interceptor != nil { stages.append(MoyaPluginsStage()) }
        stages += native
        if !ownPlugins.isEmpty { stages.append(ChallengeCredentials().plugin) }
        // Innermost, so that all header fields and credentials are compared.
        deduplication = trackInflights ? DeduplicationPlugin(methods: [.get, .head], ignoredFields: []) : nil
        provider = Provider(
            transport: HeadTimeoutTransport(wrapped: session.transport),
            plugins: deduplication.map { stages + [$0] } ?? stages
        )
    }

    /// Creates a provider that sends requests with a transport.
    ///
    /// In a subclass, call the other initializer with ``Session/init(transport:interceptor:)``.
    public convenience init(
        endpointClosure: @escaping EndpointClosure = MoyaProvider.defaultEndpointMapping,
        requestClosure: @escaping RequestClosure = MoyaProvider.defaultRequestMapping,
        stubClosure: @escaping StubClosure = MoyaProvider.neverStub,
        callbackQueue: DispatchQueue? = nil,
        transport: any Transport,
        plugins: [any PluginType] = [],
        trackInflights: Bool = false
    ) {
        self.init(
            endpointClosure: endpointClosure,
            requestClosure: requestClosure,
            stubClosure: stubClosure,
            callbackQueue: callbackQueue,
            session: Session(transport: transport),
            plugins: plugins,
            trackInflights: trackInflights
        )
    }

    /// The completions of requests in progress, of all methods, if they are tracked.
    open var inflightRequests: [Endpoint: [Moya.Completion]] { inflights.all }

    /// Returns the endpoint of a target, made by ``endpointClosure``.
    open func endpoint(_ token: Target) -> Endpoint {
        endpointClosure(token)
    }

    /// Sends a target and calls a closure with the result.
    ///
    /// - Parameters:
    ///   - target: the target to send.
    ///   - callbackQueue: the queue of progress and completion; `nil` for that of the provider.
    ///   - progress: receives the steps of the request's progress; a stub has none.
    ///   - completion: receives the result.
    /// - Returns: a token that cancels the request.
    @discardableResult
    open func request(
        _ target: Target,
        callbackQueue: DispatchQueue? = nil,
        progress: ProgressBlock? = nil,
        completion: @escaping Completion
    ) -> any Cancellable {
        requestNormal(
            target,
            callbackQueue: callbackQueue ?? self.callbackQueue,
            progress: progress,
            completion: completion
        )
    }

    /// Stubs a request.
    ///
    /// An override calls ``notifyPluginsOfImpendingStub(for:target:)`` and runs the closure that
    /// ``createStubFunction(_:forTarget:withCompletion:endpoint:plugins:request:)`` returns.
    @discardableResult
    open func stubRequest(
        _ target: Target,
        request: URLRequest,
        callbackQueue: DispatchQueue?,
        completion: @escaping Moya.Completion,
        endpoint: Endpoint,
        stubBehavior: Moya.StubBehavior
    ) -> CancellableToken {
        let queue = callbackQueue ?? self.callbackQueue
        let token = CancellableToken {}
        let prepared = notifyPluginsOfImpendingStub(for: request, target: target)
        let stub = createStubFunction(
            token,
            forTarget: target,
            withCompletion: completion,
            endpoint: endpoint,
            plugins: plugins,
            request: prepared
        )
        let crossing = CrossingValue(stub)
        switch stubBehavior {
        case .immediate:
            if let queue { queue.async { crossing.value() } } else { stub() }
        case .delayed(let seconds):
            (queue ?? .main).asyncAfter(deadline: .now() + seconds) { crossing.value() }
        case .never:
            let error = PipelineError(.stubWithoutTransport, "stubRequest was called for a target that is not stubbed")
            completion(.failure(.underlying(error, nil)))
        }
        return token
    }
}

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
