import Logging
public import PipelineCore

extension LoggingPlugin {
    private static let logsExchanges = PluginCapability("logs exchanges to the default logger")
    private static let logsSummaries = PluginCapability("logs summaries to the default logger")

    /// The capabilities of this plugin: `PluginCapability.showsContent`, and one of its own for each kind of line that
    /// it writes to the default logger.
    public var capabilities: Set<PluginCapability> {
        var capabilities: Set<PluginCapability> = [.showsContent]
        guard case .standard = output else { return capabilities }
        if level >= form.exchangeLevel { capabilities.insert(Self.logsExchanges) }
        if form == .summary, level >= .info { capabilities.insert(Self.logsSummaries) }
        return capabilities
    }

    /// The rules that detect two plugins that write the same lines to the default logger.
    public var orderRules: [OrderRule] {
        [("exchanges", Self.logsExchanges), ("summaries", Self.logsSummaries)].map { name, capability in
            OrderRule(
                "logging-\(name)-twice",
                [capability],
                .inside,
                [capability],
                consequence: "\(name) are logged twice",
                remedy: "lower one of them to level error or give it a logger of its own"
            )
        }
    }

    /// Writes a warning of another plugin or a finding of the stack, unless the plugin's level is `off`.
    public func report(warning: String) -> Bool {
        guard level != .off else { return false }
        switch output {
        case .standard(let logger), .logger(let logger): logger.warning("\(warning)")
        case .handler(let handler): handler(min(.info, level), warning)
        }
        return true
    }
}
