import Dispatch
import Foundation
import Logging
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
    typealias Item = TargetsSamples.Item

    struct Job: Sendable {
        let item: Int
    }

    #if AsyncHTTPClient
    static func client(_ plugins: PluginStack) -> (shop: Provider<Shop>, transport: AsyncHTTPClientTransport) {
        // sample: client
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.timeout.connect = .seconds(2)
        let transport = AsyncHTTPClientTransport(configuration: configuration, connectionsPerHost: 16)
        // end
        let shop = Provider<Shop>(transport: transport, plugins: [plugins])
        return (shop, transport)
    }
    #endif

    // sample: request id
    enum Incoming { @TaskLocal static var requestID: String? }
    // end

    static func logging() -> (Logger.MetadataProvider, PluginStack) {
        // sample: request id
        let metadata = Logger.MetadataProvider { ["request": "\(Incoming.requestID ?? "none")"] }
        let logger = Logger(label: "client", metadataProvider: metadata)
        let ids = RequestIDPlugin { Incoming.requestID }
        let stack = PluginStack.standard(.requestID(ids), logging: .info, logger: logger)
        // end
        return (metadata, stack)
    }

    static func item(_ shop: Provider<Shop>, requestID: String) async throws -> Item {
        // sample: request id
        let item = try await Incoming.$requestID.withValue(requestID) {
            try await shop.request(.item(id: 7), as: Item.self)
        }
        // end
        return item
    }

    static func budget() -> PluginStack {
        // sample: budget
        let retry = RetryPlugin(budget: RetryBudget(ratio: 0.1, minimumPerSecond: 1))
        let plugins = PluginStack.standard(.retries(retry))
        // end
        return plugins
    }

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
        let (shop, transport) = OnAServerSamples.client(OnAServerSamples.budget())
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
        let (shop, transport) = OnAServerSamples.client(PluginStack())
        let work = OnAServerSamples.work(jobs) { [output] job in output.add("job \(job.item)\n") }
        queue.yield(Job(item: 7))
        queue.finish()
        try await OnAServerSamples.end(work, shop, transport)
        #expect(output.text == "job 7\n")
        let error = await #expect(throws: PipelineError.self) { try await shop.request(.item(id: 7)) }
        #expect(error?.code == .clientClosed)
    }
    #endif

    @Test("The id of the incoming request is sent with the call and known where its lines are logged")
    func requestID() async throws {
        let transport = ScriptedTransport(always: .status(200, body: #"{"title": "Lamp"}"#))
        let (metadata, stack) = OnAServerSamples.logging()
        let logging = LoggingPlugin(level: .info, form: .summary) { [output] _, _ in
            output.add("\(metadata.get()["request"] ?? "")\n")
        }
        let plugins: [any PluginType] = [logging, stack.removing(LoggingPlugin.self)]
        let shop = Provider<Shop>(transport: transport, plugins: plugins)
        #expect(try await OnAServerSamples.item(shop, requestID: "a1").title == "Lamp")
        #expect(transport.sent.map { $0.headers[RequestIDPlugin.standardField] } == ["a1"])
        #expect(output.text == "a1\n")
        #expect(metadata.get() == ["request": "none"])
    }

    @Test("An id that cannot be sent is replaced", arguments: ["", "a b", String(repeating: "a", count: 256)])
    func invalidRequestID(id: String) async throws {
        let transport = ScriptedTransport(always: .status(200, body: #"{"title": "Lamp"}"#))
        let stack = OnAServerSamples.logging().1.removing(LoggingPlugin.self)
        _ = try await OnAServerSamples.item(Provider(transport: transport, plugins: [stack]), requestID: id)
        #expect(transport.sent.first?.headers[RequestIDPlugin.standardField]?.count == 36)
    }

    @Test("Providers with the same retrying plugin share its budget for a host")
    func budget() async {
        let transport = ScriptedTransport(always: .status(503))
        let plugins = OnAServerSamples.budget()
        let configuration = ProviderConfiguration(clock: ManualClock())
        let providers = [0, 1].map { _ in
            Provider<Shop>(transport: transport, plugins: [plugins], configuration: configuration)
        }
        let options = RequestOptions {
            $0.retry = .init(backoff: .immediate)
            $0.avoidLogError = true
        }
        for _ in 1...10 {
            for provider in providers { _ = try? await provider.request(.item(id: 7), options: options) }
        }
        // 20 calls, 1 retry a second for 10 s, and 1 for every 10 calls.
        #expect(transport.sent.count == 20 + 10 + 2)
        #expect(providers[0].explain().findings.isEmpty)
    }

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
