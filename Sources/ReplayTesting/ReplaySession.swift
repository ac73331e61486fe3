import PipelineCore
import PipelineRecording
import Synchronization

/// The transport of one test, and the requests that it could not replay.
final class ReplaySession: Sendable {
    @TaskLocal static var current: ReplaySession?

    let transport: any Transport
    /// Returns the configuration, which a recording keeps only if it is used.
    let configuration: @Sendable () -> ProviderConfiguration
    private let failures = Mutex<[String]>([])

    init(_ transport: any Transport, _ configuration: @escaping @Sendable () -> ProviderConfiguration) {
        self.transport = transport
        self.configuration = configuration
    }

    /// The errors of requests that could not be replayed, without duplicates, in order.
    var misses: [String] { failures.withLock { $0 } }

    func send(_ request: PipelineRequest, _ context: PipelineContext) async throws -> PipelineResponse {
        do {
            return try await transport.send(request, context: context)
        } catch let error as PipelineError where error.code.isKind(of: .recording) {
            let text = error.reason
            failures.withLock { if !$0.contains(text) { $0.append(text) } }
            throw error
        }
    }
}
