import Foundation
import HTTPTypes
public import Pipeline

/// Answers from the endpoint's sample response, without a network.
///
/// Each target is stubbed at once, after a delay on the provider's clock, or not at all; a target that is not stubbed goes to
/// the transport that the stub wraps. Plugins see a stubbed exchange like any other.
///
/// ```swift
/// StubTransport()                                                  // every target at once
/// StubTransport(.delayed(.milliseconds(300)))                      // every target, later
/// StubTransport(wrapping: URLSessionTransport()) { target in       // some targets
///     target is NewAPI ? .immediate : .never
/// }
/// ```
///
/// **Effects**: the sample response is read when the response is due, not before. Without one the response is `sampleData`, with status 200
/// if the target accepts that, else with the lowest success that it accepts, else with the lowest status. If `sampleData` is empty as
/// well, the response has no body, and an error of decoding it names the target that has no sample.
///
/// **Errors**: the endpoint's `networkError`, a `URLError` as the typed error that a real transport gives;
/// ``PipelineError/Code-swift.struct/stubWithoutTransport`` for a target that is not stubbed when there is no transport to
/// pass it to; `CancellationError` at once when the call is cancelled during the delay.
public struct StubTransport: Transport {
    /// How a target is stubbed.
    public struct Behavior: Sendable, Hashable {
        enum Kind: Hashable {
            case never
            case immediate
            case delayed(Duration)
        }

        let kind: Kind

        /// Not at all.
        public static let never = Behavior(kind: .never)
        /// At once.
        public static let immediate = Behavior(kind: .immediate)
        /// After a time on the provider's clock, zero or more.
        public static func delayed(_ duration: Duration) -> Behavior {
            precondition(duration >= .zero, "a stub cannot answer \(duration) before it was asked")
            return Behavior(kind: .delayed(duration))
        }
    }

    private let wrapped: (any Transport)?
    private let behavior: @Sendable (any TargetType) -> Behavior

    /// Stubs every target alike.
    ///
    /// - Parameters:
    ///   - behavior: how; default at once.
    ///   - transport: where `.never` goes.
    public init(_ behavior: Behavior = .immediate, wrapping transport: (any Transport)? = nil) {
        self.init(wrapping: transport) { _ in behavior }
    }

    /// Stubs each target as the closure says.
    ///
    /// - Parameters:
    ///   - transport: where `.never` goes.
    ///   - behavior: asked for every exchange; gets the innermost target.
    public init(
        wrapping transport: (any Transport)? = nil,
        _ behavior: @escaping @Sendable (any TargetType) -> Behavior
    ) {
        self.wrapped = transport
        self.behavior = behavior
    }

    /// Whether the wrapped transport decodes; sample bodies are handed over as they are.
    public var decodesContent: Bool { wrapped?.decodesContent ?? false }

    /// Answers from the endpoint's sample response.
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

    /// The target's sample data, with a note for whoever decodes them if there are none.
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
