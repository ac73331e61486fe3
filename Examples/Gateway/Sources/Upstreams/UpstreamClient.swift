import Pipeline
import PipelineResilience
import PipelineTelemetry
import ServiceLifecycle

/// The client of all upstreams, which ends after the server.
struct UpstreamClient: Service {
    let upstreams: Upstreams
    let provider: Provider<MultiTarget>
    private let close: @Sendable () async throws -> Void

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - upstreams: the servers to call.
    ///   - transport: sends the requests.
    ///   - logging: how much is logged of each call.
    ///   - configuration: the settings of all calls.
    ///   - close: closes the transport.
    init(
        _ upstreams: Upstreams,
        transport: any Transport,
        logging: LoggingPlugin.Level = .error,
        configuration: ProviderConfiguration = ProviderConfiguration(),
        close: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.upstreams = upstreams
        self.close = close
        provider = Provider(
            transport: transport,
            plugins: [
                .standard(
                    .telemetry,
                    .resilient,
                    .timeouts(TimeoutPlugin(attempt: .seconds(1), total: .seconds(3))),
                    .retries(RetryPlugin(backoff: .exponential(base: .milliseconds(50)))),
                    // Opens earlier than that of `resilient`, and its breaks do not grow, so that the reviews are
                    // back about a second after an outage.
                    .breaker(CircuitBreakerPlugin(failureRatio: 0.5, minimumCallCount: 10, breakDuration: .seconds(1))),
                    logging: logging
                ),
                DeadlinePlugin(),
            ],
            configuration: configuration
        )
    }

    /// Waits for the graceful shutdown, which reaches this service after the server has finished its last response.
    func run() async throws {
        // A cancellation also ends the wait.
        try? await gracefulShutdown()
        await provider.drain(within: .seconds(5))
        provider.shutdown()
        try await close()
    }
}
