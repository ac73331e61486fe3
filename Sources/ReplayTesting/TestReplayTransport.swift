public import PipelineCore
import PipelineRecording

/// A transport that replays each request from the recording of the test that sends it; see
/// `Transport.replay`.
public struct TestReplayTransport: Transport {
    /// The session of the test in which the transport was created, for detached tasks.
    private let session: ReplaySession?

    init() { session = ReplaySession.current }

    private var current: ReplaySession? { ReplaySession.current ?? session }

    /// The name of the transport that replays or records.
    public var name: String { current?.transport.name ?? "TestReplayTransport" }

    /// Whether the transport that replays or records decodes bodies.
    public var decodesContent: Bool { current?.transport.decodesContent ?? false }

    /// Replays a request from the recording of the test, or records it if the test is recording.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        guard let current else {
            throw PipelineError(
                .recording(.missingFile),
                "the request was not sent by a test with the trait .replay(…); in a detached task, use a transport created in the test"
            )
        }
        return try await current.send(request, context)
    }
}

extension Transport where Self == TestReplayTransport {
    /// A transport that uses the recording of the test in which a request is sent.
    ///
    /// Each request uses the recording that the trait `.replay("name")` of its test names, even if several tests share
    /// one provider. A request of a detached task uses the recording of the test in which the transport was created.
    ///
    /// **Errors**: `recording.missingFile` outside of a test with that trait; otherwise those of
    /// ``/PipelineRecording/ReplayTransport``.
    public static var replay: Self { TestReplayTransport() }
}
