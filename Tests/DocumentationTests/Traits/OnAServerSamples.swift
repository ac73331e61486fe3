import Dispatch
import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
#endif

/// The samples of the guide OnAServer.
enum OnAServerSamples {
    typealias Shop = TargetsSamples.Shop

    struct Job: Sendable {
        let item: Int
    }

    #if AsyncHTTPClient
    static func client() -> AsyncHTTPClientTransport {
        // sample: client
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.timeout.connect = .seconds(2)
        let transport = AsyncHTTPClientTransport(configuration: configuration, connectionsPerHost: 16)
        // end
        return transport
    }
    #endif

    static func work(
        _ jobs: AsyncStream<Job>,
        handle: @escaping @Sendable (Job) async -> Void
    ) -> Task<Void, Never> {
        // sample: end
        let work = Task {
            await withDiscardingTaskGroup { group in
                for await job in jobs { group.addTask { await handle(job) } }
            }
        }
        // end
        return work
    }

    /// Compiled only: it changes how the process treats SIGTERM.
    static func stop(
        _ work: Task<Void, Never>,
        _ queue: AsyncStream<Job>.Continuation
    ) {
        // sample: end
        signal(SIGTERM, SIG_IGN)  // the source below gets it instead
        let termination = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)
        defer { termination.cancel() }
        termination.setEventHandler {
            queue.finish()
            DispatchQueue.main.asyncAfter(deadline: .now() + 10) { work.cancel() }
        }
        termination.resume()
        // end
    }

    #if AsyncHTTPClient
    static func end(
        _ work: Task<Void, Never>,
        _ provider: Provider<Shop>,
        _ transport: AsyncHTTPClientTransport
    ) async throws {
        // sample: end
        await work.value
        await provider.drain(within: .seconds(5))
        provider.shutdown()
        try await transport.shutdown()
        // end
    }
    #endif
}

@Suite("The samples of the guide OnAServer", .realTime, .watched)
struct OnAServerSamplesTests {
    private typealias Shop = OnAServerSamples.Shop
    private typealias Job = OnAServerSamples.Job

    private let output = Output()

    #if AsyncHTTPClient
    @Test("Calls of all providers with the transport fail after its shutdown")
    func client() async throws {
        let transport = OnAServerSamples.client()
        let shop = Provider<Shop>(transport: transport)
        let pages = Provider<URLTarget>(transport: transport)
        #expect("\(shop.explain())".contains("AsyncHTTPClientTransport"))
        try await transport.shutdown()
        let options = RequestOptions { $0.avoidLogError = true }
        let first = await #expect(throws: PipelineError.self) {
            try await shop.request(.item(id: 7), options: options)
        }
        let second = await #expect(throws: PipelineError.self) {
            try await pages.request(URLTarget("https://api.shop.example/v1/items/7"))
        }
        #expect(first?.code == .clientClosed)
        #expect(second?.code == .clientClosed)
    }

    @Test("The program ends after its jobs, and later calls fail with clientClosed")
    func end() async throws {
        let (jobs, queue) = AsyncStream.makeStream(of: Job.self)
        let transport = OnAServerSamples.client()
        let shop = Provider<Shop>(transport: transport)
        let work = OnAServerSamples.work(jobs) { [output] job in output.add("job \(job.item)\n") }
        queue.yield(Job(item: 7))
        queue.finish()
        try await OnAServerSamples.end(work, shop, transport)
        #expect(output.text == "job 7\n")
        let error = await #expect(throws: PipelineError.self) { try await shop.request(.item(id: 7)) }
        #expect(error?.code == .clientClosed)
    }
    #endif

    @Test("Jobs in the queue are done after it has finished")
    func finish() async {
        let (jobs, queue) = AsyncStream.makeStream(of: Job.self)
        for item in 1...3 { queue.yield(Job(item: item)) }
        queue.finish()
        await OnAServerSamples.work(jobs) { [output] _ in output.add("job\n") }.value
        #expect(output.text == "job\njob\njob\n")
    }

    @Test("Cancelling the work cancels the remaining calls")
    func cancel() async throws {
        let (jobs, queue) = AsyncStream.makeStream(of: Job.self)
        let transport = ScriptedTransport(always: .hang)
        let shop = Provider<Shop>(transport: transport)
        let work = OnAServerSamples.work(jobs) { [output] job in
            do {
                _ = try await shop.request(.item(id: job.item))
            } catch {
                output.add(error is CancellationError ? "cancelled" : "\(error)")
            }
        }
        queue.yield(Job(item: 7))
        try await transport.waitForRequests()
        queue.finish()
        work.cancel()
        await work.value
        #expect(output.text == "cancelled")
    }
}
