import Foundation
import HTTPTypes
public import PipelineCore

/// A transport that responds with the endpoint's sample response, without a network.
///
/// Each target is stubbed at once, after a delay on the provider's clock, or not at all. A target that is not stubbed
/// is sent by the wrapped transport. Plugins see a stubbed exchange like any other.
///
/// ```swift
/// StubTransport()                                                  // every target at once
/// StubTransport(.delayed(.milliseconds(300)))                      // every target, later
/// StubTransport(wrapping: URLSessionTransport()) { target in       // some targets
///     target is NewAPI ? .immediate : .never
/// }
/// ```
///
/// **Effects**: the sample response is read when the response is due, not before. Without a sample response, the
/// response is `sampleData`. Its status is 200 if the target accepts that, otherwise the lowest success status that it
/// accepts, otherwise the lowest status that it accepts. If `sampleData` is empty as well, the response has no body,
/// and an error of decoding it names the target without a sample.
///
/// **Errors**: the endpoint's `networkError`, with a `URLError` converted to the typed error of a real transport;
/// ``PipelineError/Code-swift.struct/stubWithoutTransport`` for a target that is not stubbed if no transport
/// is wrapped; `CancellationError` at once if the call is cancelled during the delay.
public struct StubTransport: Transport {
    /// The way in which a target is stubbed.
    public struct Behavior: Sendable, Hashable {
        enum Kind: Hashable {
            case never
            case immediate
            case delayed(Duration)
        }

        let kind: Kind

        /// Does not stub the target; the wrapped transport sends it.
        public static let never = Behavior(kind: .never)
        /// Returns the sample response at once.
        public static let immediate = Behavior(kind: .immediate)
        /// Returns the sample response after a delay on the provider's clock, zero or more.
        public static func delayed(_ duration: Duration) -> Behavior {
            precondition(duration >= .zero, "the delay of a stub is \(duration), not zero or more")
            return Behavior(kind: .delayed(duration))
        }
    }

    private let wrapped: (any Transport)?
    private let behavior: @Sendable (any TargetType) -> Behavior

    /// Stubs every target in the same way.
    ///
    /// - Parameters:
    ///   - behavior: how targets are stubbed; defaults to at once.
    ///   - transport: the transport for `.never`.
    public init(_ behavior: Behavior = .immediate, wrapping transport: (any Transport)? = nil) {
        self.init(wrapping: transport) { _ in behavior }
    }

    /// Stubs each target as the closure decides.
    ///
    /// - Parameters:
    ///   - transport: the transport for `.never`.
    ///   - behavior: called with the innermost target of every exchange.
    public init(
        wrapping transport: (any Transport)? = nil,
        _ behavior: @escaping @Sendable (any TargetType) -> Behavior
    ) {
        self.wrapped = transport
        self.behavior = behavior
    }

    /// The settings that the wrapped transport cannot apply.
    public var unsupportedSettings: [UnsupportedSetting] { wrapped?.unsupportedSettings ?? [] }

    /// Those of the wrapped transport; none without one.
    public var capabilities: Set<PluginCapability> { wrapped?.capabilities ?? [] }

    /// Whether the wrapped transport decodes content codings.
    ///
    /// Sample bodies are returned unchanged.
    public var decodesContent: Bool { wrapped?.decodesContent ?? false }

    /// The identity of the wrapped transport.
    public func identity(for request: PipelineRequest) -> String? { wrapped?.identity(for: request) }

    /// Whether the wrapped transport enforces the timeout.
    public func enforcesIdleTimeout(_ timeout: Duration) -> Bool { wrapped?.enforcesIdleTimeout(timeout) ?? false }

    /// Responds with the endpoint's sample response.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        switch behavior(context.target).kind {
        case .immediate:
            break
        case .delayed(let duration):
            try await context.clock.sleep(for: duration)
        case .never:
            guard let wrapped else {
                throw PipelineError(
                    .stubWithoutTransport,
                    "\(type(of: context.target)) is not stubbed and the stub wraps no transport"
                )
            }
            return try await wrapped.send(request, context: context)
        }
        guard let sample = context.endpoint.sampleResponse else {
            return Self.response(of: context.target, to: request)
        }
        switch sample().kind {
        case .response(let head, let data):
            return PipelineResponse(request: request, head: head, body: .bytes(data))
        case .failure(let error):
            throw URLErrorMapping.pipelineError(for: error)
        }
    }

    /// Returns the target's sample data.
    ///
    /// If it is empty, adds a reason for the error of decoding it.
    private static func response(of target: any TargetType, to request: PipelineRequest) -> PipelineResponse {
        let data = target.sampleData
        var response = PipelineResponse(
            request: request,
            head: HTTPResponse(status: .init(code: target.validationType.acceptedStatusCode)),
            body: .bytes(data)
        )
        if data.isEmpty {
            response.emptyBodyReason = "\(type(of: target)) has no sampleData for \(request.method) \(request.path)"
        }
        return response
    }
}

extension ValidationType {
    fileprivate var acceptedStatusCode: Int {
        if accepts(200) { return 200 }
        return (200..<300).first(where: accepts) ?? (100...999).first(where: accepts) ?? 200
    }
}
