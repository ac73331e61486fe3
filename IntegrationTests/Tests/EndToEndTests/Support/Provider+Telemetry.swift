import Pipeline
import TelemetryChecks

@testable import PipelineTransports

/// The suite's own initializers hide those of the library, so that every provider in it also traces and measures its
/// calls. Telemetry that violates OpenTelemetry's conventions is an issue of the test.
extension Provider {
    convenience init(
        transport: any Transport,
        plugins: [any PluginType] = [],
        configuration: ProviderConfiguration = ProviderConfiguration(),
        endpoint: (@Sendable (Target) throws -> Endpoint)? = nil
    ) {
        self.init(checking: transport, plugins: plugins, configuration: configuration, endpoint: endpoint)
    }

    convenience init(
        plugins: [any PluginType] = [],
        configuration: ProviderConfiguration = ProviderConfiguration(),
        endpoint: (@Sendable (Target) throws -> Endpoint)? = nil
    ) {
        self.init(
            checking: DefaultTransport.make(),
            plugins: plugins,
            configuration: configuration,
            endpoint: endpoint
        )
    }
}
