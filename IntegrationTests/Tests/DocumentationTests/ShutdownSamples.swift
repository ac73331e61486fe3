import Foundation
import Hummingbird
import Logging
import Metrics
import Pipeline
import PipelineTesting
import ServiceLifecycle
import TestSupport
import Testing
import Tracing
import UnixSignals

@testable import class gateway.PrometheusMetrics
@testable import struct gateway.TraceContext

// sample: service
struct ClientService: Service {
    let provider: Provider<MultiTarget>
    let transport: AsyncHTTPClientTransport

    func run() async throws {
        try? await gracefulShutdown()
        await provider.drain(within: .seconds(5))
        provider.shutdown()
        try await transport.shutdown()
    }
}
// end

/// A job with the work that it does.
struct Job: Sendable {
    let work: @Sendable () async -> Void
}

private func handle(_ job: Job) async { await job.work() }

// sample: worker
struct Worker: Service {
    let jobs: AsyncStream<Job>

    func run() async throws {
        await withDiscardingTaskGroup { group in
            for await job in jobs.cancelOnGracefulShutdown() { group.addTask { await handle(job) } }
        }
    }
}
// end

/// The samples of the guide OnAServer for a program with services.
enum ShutdownSamples {
    /// Compiled only: a process can bootstrap its metrics once.
    static func run() async throws {
        // sample: main
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        InstrumentationSystem.bootstrap(TraceContext())

        let authority = try Data(contentsOf: URL(filePath: "/etc/pages/authority.pem"))
        let trust = TrustPolicy(["*.internal.example": try .authorities(pem: authority)])
        let transport = makeTransport(trust: trust)
        let provider = Provider<MultiTarget>(transport: transport, plugins: [makePlugins()])

        let router = makeRouter(ProductPages(provider: provider))
        router.get("metrics") { _, _ in metrics.text }
        let logger = Logger(label: "pages")
        let address = BindAddress.hostname("0.0.0.0", port: 8080)
        let application = Application(router: router, configuration: .init(address: address), logger: logger)
        // end
        try await run(services(provider, transport, application, logger))
    }

    static func services(
        _ provider: Provider<MultiTarget>,
        _ transport: AsyncHTTPClientTransport,
        _ application: any Service,
        _ logger: Logger
    ) -> ServiceGroupConfiguration {
        // sample: main
        let client = ClientService(provider: provider, transport: transport)
        var services = ServiceGroupConfiguration(services: [client, application], logger: logger)
        services.gracefulShutdownSignals = [.sigterm, .sigint]
        services.maximumGracefulShutdownDuration = .seconds(10)
        // end
        return services
    }

    /// Compiled only: it changes how the process treats signals.
    static func run(_ services: ServiceGroupConfiguration) async throws {
        // sample: main
        try await ServiceGroup(configuration: services).run()
        // end
    }
}

@Suite("The service of the guide OnAServer", .realTime, .watched)
struct ShutdownSamplesTests {
    /// Runs like a server that calls another one for its last response, after the shutdown has begun.
    private struct Application: Service {
        let start: AsyncStream<Void>.Continuation
        let work: @Sendable () async throws -> Void

        func run() async throws {
            start.yield()
            try await gracefulShutdown()
            try await work()
        }
    }

    @Test("The client ends after the server: a call for the server's last response succeeds, and a later one fails")
    func order() async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "page")] }
        defer { server.stop() }
        let (transport, output) = (AsyncHTTPClientTransport(), Output())
        let (provider, url) = (Provider<MultiTarget>(transport: transport), server.url.absoluteString)
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let application = Application(start: start) {
            output.add(try await provider.request(URLTarget(url)).mapString())
        }
        let logger = Logger(label: "services") { _ in SwiftLogNoOpLogHandler() }
        var services = ShutdownSamples.services(provider, transport, application, logger)
        services.gracefulShutdownSignals = []
        let group = ServiceGroup(configuration: services)
        async let end: Void = group.run()
        _ = await starts.first { _ in true }
        await group.triggerGracefulShutdown()
        try await end
        #expect(output.text == "page")
        let error = await #expect(throws: PipelineError.self) { try await provider.request(URLTarget(url)) }
        #expect(error?.code == .clientClosed)
    }

    @Test("A worker finishes the job that has begun, with its call, and takes no other")
    func worker() async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "page")] }
        defer { server.stop() }
        let (transport, output) = (AsyncHTTPClientTransport(), Output())
        let (provider, url) = (Provider<MultiTarget>(transport: transport), server.url.absoluteString)
        let (jobs, queue) = AsyncStream.makeStream(of: Job.self)
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let logger = Logger(label: "services") { _ in SwiftLogNoOpLogHandler() }
        var services = ShutdownSamples.services(provider, transport, Worker(jobs: jobs), logger)
        services.gracefulShutdownSignals = []
        let group = ServiceGroup(configuration: services)
        async let run: Void = group.run()
        queue.yield(
            Job {
                start.yield()
                _ = await ends.first { _ in true }
                output.add((try? await provider.request(URLTarget(url)).mapString()) ?? "failed")
            }
        )
        _ = await starts.first { _ in true }
        await group.triggerGracefulShutdown()
        end.yield()
        try await run
        #expect(output.text == "page")
    }
}
