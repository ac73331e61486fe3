#if AsyncHTTPClient
import Dispatch
import Foundation
import Pipeline
import PipelineTransports

/// The samples of the guide on shutting down a program.
enum ShutdownSamples {
    struct Job: Sendable {}

    static func run(
        _ provider: Provider<URLTarget>,
        _ transport: AsyncHTTPClientTransport,
        _ jobs: AsyncStream<Job>,
        _ queue: AsyncStream<Job>.Continuation,
        handle: @escaping @Sendable (Job) async -> Void
    ) async throws {
        // sample: end
        signal(SIGTERM, SIG_IGN)  // the source below gets it instead
        let termination = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)
        defer { termination.cancel() }
        let work = Task {
            await withDiscardingTaskGroup { group in
                for await job in jobs { group.addTask { await handle(job) } }
            }
        }
        termination.setEventHandler {
            queue.finish()
            DispatchQueue.main.asyncAfter(deadline: .now() + 10) { work.cancel() }
        }
        termination.resume()

        await work.value
        await provider.drain(within: .seconds(5))
        provider.shutdown()
        try await transport.shutdown()
        // end
    }
}
#endif
