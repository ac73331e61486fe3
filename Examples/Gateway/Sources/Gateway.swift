import Foundation
import Metrics
import Pipeline
import ServiceLifecycle
import Tracing
import UnixSignals

/// Starts a server that builds product pages from the responses of three upstream servers.
@main
struct Gateway {
    static func main() async {
        do {
            let options = try GatewayOptions(CommandLine.arguments.dropFirst(), ProcessInfo.processInfo.environment)
            guard !options.showsHelp else { return print(GatewayOptions.help) }
            try await run(options)
        } catch {
            FileHandle.standardError.write(Data("gateway: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ options: GatewayOptions) async throws {
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        InstrumentationSystem.bootstrap(TraceContext())
        if let upstreams = options.upstreams { return try await serve(upstreams, metrics, options) }
        let demo = DemoUpstreams()
        try await demo.run { upstreams in try await serve(upstreams, metrics, options, demo) }
    }

    private static func serve(
        _ upstreams: Upstreams,
        _ metrics: PrometheusMetrics,
        _ options: GatewayOptions,
        _ demo: DemoUpstreams? = nil
    ) async throws {
        let transport = AsyncHTTPClientTransport()
        let server = GatewayServer(
            client: UpstreamClient(upstreams, transport: transport, logging: options.loadCount == nil ? .error : .off) {
                try await transport.shutdown()
            },
            metrics: metrics
        )
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        var configuration = server.makeConfiguration(host: options.host, port: options.port) { number in
            print(announcement("http://\(options.host):\(number)"))
            // A script that starts the gateway reads these lines through a pipe.
            fflush(nil)
            port.yield(number)
        }
        configuration.gracefulShutdownSignals = [.sigterm, .sigint]
        if let count = options.loadCount, let demo {
            let load = LoadTest(count: count, ports: ports, demo: demo)
            configuration.services.append(.init(service: load, successTerminationBehavior: .gracefullyShutdownGroup))
        }
        try await ServiceGroup(configuration: configuration).run()
    }

    private static func announcement(_ origin: String) -> String {
        """
        The gateway listens on \(origin); try:
          curl -i \(origin)/products/7
          curl \(origin)/health \(origin)/metrics
        """
    }
}
