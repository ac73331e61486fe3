public import Pipeline

extension LoggingPlugin: OrderChecking {
    /// Finds two that write the same lines to the default logger.
    public func findings(in surroundings: PluginSurroundings) -> [PipelineDescription.Finding] {
        let outside = surroundings.outside.compactMap { $0 as? LoggingPlugin }
        guard outside.contains(where: repeatsLines) else { return [] }
        return [
            .init(
                "LoggingPlugin stands twice with the default logger: each request and answer is written twice; "
                    + "lower one of them to level error or give it a logger of its own"
            )
        ]
    }

    private func repeatsLines(of other: LoggingPlugin) -> Bool {
        guard case .standard = output, case .standard = other.output else { return false }
        let bothWriteExchanges = level >= form.exchangeLevel && other.level >= other.form.exchangeLevel
        let bothWriteSummaries = form == .summary && other.form == .summary && level >= .info && other.level >= .info
        return bothWriteExchanges || bothWriteSummaries
    }
}
