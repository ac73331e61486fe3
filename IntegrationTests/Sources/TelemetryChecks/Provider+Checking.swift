import InMemoryTracing
package import Pipeline
import PipelinePlugins
import PipelineTelemetry
import Testing

/// Records the violations in the telemetry of a provider as issues of the test.
private final class TelemetryCheck: Stage.DidFinish {
    let metrics = CheckedMetrics()
    let tracer = InMemoryTracer()

    func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) { checkSpans() }

    private func checkSpans() {
        let spans = tracer.popFinishedSpans()
        for violation in spans.flatMap({ CheckedSpans.violations(of: $0) }) { Issue.record("\(violation)") }
    }

    deinit {
        checkSpans()
        for violation in metrics.violations + metrics.unbalanced { Issue.record("\(violation)") }
        for span in tracer.activeSpans { Issue.record("the span \(span.operationName) has not ended") }
    }
}

extension Provider {
    /// Creates a provider whose calls are traced and measured, and whose telemetry must follow the conventions.
    ///
    /// Spans are checked when a call ends, and metrics when the provider is released.
    package convenience init(
        checking transport: any Transport,
        plugins: [any PluginType],
        configuration: ProviderConfiguration,
        endpoint: (@Sendable (Target) throws -> Endpoint)?
    ) {
        let check = TelemetryCheck()
        let telemetry: [any PluginType] = [
            TracingPlugin(tracer: check.tracer), MetricsPlugin(factory: check.metrics), check,
        ]
        self.init(
            transport: transport,
            plugins: telemetry + plugins,
            configuration: configuration,
            endpoint: endpoint
        )
    }
}
