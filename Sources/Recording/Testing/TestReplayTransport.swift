public import Pipeline
import PipelineRecording

/// Sends each request to the recording of the test that sends it; see ``Pipeline/Transport/replay``.
public struct TestReplayTransport: Transport {
    /// That of the test in which it was made: a detached task has no other.
    private let session: ReplaySession?

    init() { session = ReplaySession.current }

    private var current: ReplaySession? { ReplaySession.current ?? session }

    /// That of the transport behind it.
    public var name: String { current?.transport.name ?? "TestReplayTransport" }

    /// As the transport behind it says.
    public var decodesContent: Bool { current?.transport.decodesContent ?? false }

    /// Answers from the recording of the test.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        guard let current else {
            throw PipelineError(
                .recording(.missingFile),
                "no test with the trait .replay(…) is around this request; outside of a test's tasks, make the transport within the test"
            )
        }
        return try await current.send(request, context)
    }
}

extension Transport where Self == TestReplayTransport {
    /// The recording of the test in which a request is sent.
    ///
    /// Every request goes to the recording that the trait `.replay("name")` of the test names, also through one provider that
    /// several tests share. A request of a detached task goes to the recording of the test in which the transport was made.
    ///
    /// **Errors**: `recording.missingFile` outside of a test with that trait; else those of ``PipelineRecording/ReplayTransport``.
    public static var replay: Self { TestReplayTransport() }
}
