#if Telemetry
public import PipelineCore

extension StandardPart {
    /// Metrics, spans and their propagation, for the systems that the program has bootstrapped.
    public static var telemetry: StandardPart { telemetry() }

    /// Metrics, spans and their propagation.
    ///
    /// - Parameters:
    ///   - metrics: counts and measures; `nil` for no metrics.
    ///   - tracing: makes spans; `nil` for no spans.
    /// - Returns: the part.
    public static func telemetry(
        metrics: MetricsPlugin? = MetricsPlugin(),
        tracing: TracingPlugin? = TracingPlugin()
    ) -> StandardPart {
        let outer: [(any PluginType)?] = [tracing, metrics]
        return StandardPart([
            .telemetry: PluginStack(outer.compactMap(\.self)),
            .propagation: tracing == nil ? [] : [TracingPlugin.Propagation()],
        ])
    }
}
#endif
