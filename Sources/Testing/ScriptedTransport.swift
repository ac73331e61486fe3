import Foundation
public import HTTPTypes
public import Pipeline
import Synchronization

/// A transport that answers by script and keeps what it was sent.
///
/// ```swift
/// let transport = ScriptedTransport([.status(503), .failure(.connectionLost), .status(200, body: "ok")])
/// ```
///
/// The script may also be a function of the request. When a list is used up, the next request fails with a
/// ``PipelineError`` of code `transport` that says so.
public final class ScriptedTransport: Transport {
    /// One answer.
    public struct Step: Sendable {
        typealias Answer = @Sendable (PipelineRequest, PipelineContext) async throws -> PipelineResponse

        let answer: Answer

        /// A response with its body in memory.
        public static func status(_ code: Int, headers: HTTPFields = [:], body: String = "") -> Step {
            .status(code, headers: headers, body: .bytes(Data(body.utf8)))
        }

        /// A response with any body.
        public static func status(_ code: Int, headers: HTTPFields = [:], body: PipelineBody) -> Step {
            Step { request, _ in
                let head = HTTPResponse(status: .init(code: code), headerFields: headers)
                return PipelineResponse(request: request, head: head, body: body)
            }
        }

        /// A failure with this code.
        public static func failure(_ code: PipelineError.Code) -> Step {
            .failure(PipelineError(code, "by script"))
        }

        /// Any failure, a `URLError` as the typed error that a real transport gives.
        public static func failure(_ error: any Error) -> Step {
            let isFoundations = (error as NSError).domain == NSURLErrorDomain
            return Step { _, _ in throw isFoundations ? URLErrorMapping.pipelineError(for: error) : error }
        }

        /// No answer until the call is cancelled.
        public static let hang = Step { _, context in
            let never = AsyncStream<Never> { _ in }
            for await _ in never {}
            throw CancellationError()
        }

        /// An answer after a time on the provider's clock.
        public static func delayed(_ duration: Duration, _ step: Step) -> Step {
            Step { request, context in
                try await context.clock.sleep(for: duration)
                return try await step.answer(request, context)
            }
        }

        /// Whatever the closure answers.
        public static func answer(
            _ answer: @escaping @Sendable (PipelineRequest, PipelineContext) async throws -> PipelineResponse
        ) -> Step {
            Step(answer: answer)
        }
    }

    private struct State {
        var sent: [PipelineRequest] = []
    }

    private let state = Mutex(State())
    private let makeStep: @Sendable (PipelineRequest, Int) -> Step

    /// Whether it stands for a transport that decodes content codings by itself.
    public let decodesContent: Bool

    /// Answers request by request, in the order in which they arrive.
    public convenience init(_ steps: [Step], decodesContent: Bool = false) {
        self.init(decodesContent: decodesContent) { _, index in
            guard index < steps.count else {
                return .failure(
                    PipelineError(.transport, "the script has \(steps.count) steps, this is request \(index + 1)")
                )
            }
            return steps[index]
        }
    }

    /// Answers every request alike.
    public convenience init(always step: Step, decodesContent: Bool = false) {
        self.init(decodesContent: decodesContent) { _, _ in step }
    }

    /// Answers as a function of the request and of how many came before it.
    public init(decodesContent: Bool = false, _ makeStep: @escaping @Sendable (PipelineRequest, Int) -> Step) {
        self.decodesContent = decodesContent
        self.makeStep = makeStep
    }

    /// What it was sent, in order.
    public var sent: [PipelineRequest] { state.withLock { $0.sent } }

    /// Answers by script.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        let index = state.withLock { state in
            state.sent.append(request)
            return state.sent.count - 1
        }
        return try await makeStep(request, index).answer(request, context)
    }
}
