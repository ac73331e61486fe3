import Foundation
public import HTTPTypes
public import PipelineCore

/// A transport that responds according to a script and records the requests.
///
/// ```swift
/// let transport = ScriptedTransport([.status(503), .failure(.connectionLost), .status(200, body: "ok")])
/// ```
///
/// The script may also be a function of the request. After the last step of a list, the next request fails with a
/// ``/Pipeline/PipelineError`` with code `transport`.
public final class ScriptedTransport: Transport {
    /// A step of the script: one response or failure.
    public struct Step: Sendable {
        typealias Answer = @Sendable (PipelineRequest, PipelineContext) async throws -> PipelineResponse

        let answer: Answer

        /// Responds with a status and a text as the body.
        public static func status(_ code: Int, headers: HTTPFields = [:], body: String = "") -> Step {
            .status(code, headers: headers, body: .bytes(Data(body.utf8)))
        }

        /// Responds with a status and a body of any kind.
        public static func status(_ code: Int, headers: HTTPFields = [:], body: PipelineBody) -> Step {
            Step { request, _ in
                let head = HTTPResponse(status: .init(code: code), headerFields: headers)
                return PipelineResponse(request: request, head: head, body: body)
            }
        }

        /// Fails with a `PipelineError` with this code.
        public static func failure(_ code: PipelineError.Code) -> Step {
            .failure(PipelineError(code, "by script"))
        }

        /// Fails with any error; a `URLError` becomes the `PipelineError` that a network transport throws.
        public static func failure(_ error: any Error) -> Step {
            let isFoundations = (error as NSError).domain == NSURLErrorDomain
            return Step { _, _ in throw isFoundations ? URLErrorMapping.pipelineError(for: error) : error }
        }

        /// Does not respond until the call is cancelled.
        public static let hang = Step { _, context in
            let never = AsyncStream<Never> { _ in }
            for await _ in never {}
            throw CancellationError()
        }

        /// Runs a step after a delay on the provider's clock.
        public static func delayed(_ duration: Duration, _ step: Step) -> Step {
            Step { request, context in
                try await context.clock.sleep(for: duration)
                return try await step.answer(request, context)
            }
        }

        /// Responds with the result of a closure, or fails with its error.
        public static func answer(
            _ answer: @escaping @Sendable (PipelineRequest, PipelineContext) async throws -> PipelineResponse
        ) -> Step {
            Step(answer: answer)
        }
    }

    private let requests = WaitableValue<[PipelineRequest]>([])
    private let makeStep: @Sendable (PipelineRequest, Int) -> Step

    /// Whether the transport reports that it decodes content codings.
    public let decodesContent: Bool

    /// Creates a transport that uses one step for each request, in order of arrival.
    public convenience init(_ steps: [Step], decodesContent: Bool = false) {
        self.init(decodesContent: decodesContent) { _, index in
            guard index < steps.count else {
                return .failure(
                    PipelineError(.transport, "request \(index + 1) has no step: the script has \(steps.count)")
                )
            }
            return steps[index]
        }
    }

    /// Creates a transport that uses the same step for every request.
    public convenience init(always step: Step, decodesContent: Bool = false) {
        self.init(decodesContent: decodesContent) { _, _ in step }
    }

    /// Creates a transport that gets each step from a function of the request and the number of requests before it.
    public init(decodesContent: Bool = false, _ makeStep: @escaping @Sendable (PipelineRequest, Int) -> Step) {
        self.decodesContent = decodesContent
        self.makeStep = makeStep
    }

    /// The requests that were sent, in order of arrival.
    public var sent: [PipelineRequest] { requests.read { $0 } }

    /// Waits until this many requests have arrived since the transport was made.
    ///
    /// - Throws: ``WaitTimeout`` after two minutes of real time; `CancellationError` as soon as the task is cancelled.
    public func waitForRequests(_ count: Int = 1) async throws {
        try await requests.wait {
            $0.count >= count
        } orFailWith: {
            "a test waited in vain for \(count) requests; \($0.count) have arrived"
        }
    }

    /// Records the request and runs its step.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        let index = requests.update { requests in
            requests.append(request)
            return requests.count - 1
        }
        return try await makeStep(request, index).answer(request, context)
    }
}
