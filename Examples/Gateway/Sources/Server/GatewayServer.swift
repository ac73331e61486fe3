import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// The server, with its routes.
struct GatewayServer {
    let client: UpstreamClient
    let metrics: PrometheusMetrics

    /// Returns the services of the program.
    ///
    /// Services are shut down in reverse order: the server stops accepting connections and finishes its responses, and
    /// then the client closes its connections.
    ///
    /// - Parameters:
    ///   - host: the address to listen on.
    ///   - port: the port to listen on; 0 for a free one.
    ///   - onRunning: called with the port when the server accepts connections.
    /// - Returns: the configuration of a `ServiceGroup`.
    func makeConfiguration(
        host: String = "127.0.0.1",
        port: Int = 0,
        onRunning: @escaping @Sendable (Int) -> Void
    ) -> ServiceGroupConfiguration {
        var logger = Logger(label: "gateway")
        logger.logLevel = .notice
        let application = Application(
            router: makeRouter(),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in onRunning(channel.localAddress?.port ?? port) },
            logger: logger
        )
        var configuration = ServiceGroupConfiguration(services: [client, application], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(10)
        return configuration
    }

    private func makeRouter() -> Router<BasicRequestContext> {
        let (client, metrics) = (client, metrics)
        let pages = ProductPages(client: client)
        let router = Router()
        router.get("health") { _, _ in HealthReport(client).response }
        router.get("metrics") { _, _ in metrics.text }
        router.group("products")
            .add(middleware: TracingMiddleware())
            .add(middleware: MetricsMiddleware())
            .get(":id") { request, context in
                guard let id = context.parameters.get("id", as: Int.self) else {
                    throw Problem(.badRequest, "The id of a product is a number.")
                }
                return try await pages.page(id, within: DeadlinePlugin.timeout(in: request.headers))
            }
        return router
    }
}
