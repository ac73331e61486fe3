extension PipelineContext {
    /// Where a plugin writes what the operator of a program has to know, such as that a store fails.
    ///
    /// ```swift
    /// context.operatorLog.warning("the store of QuotaPlugin is unavailable: \(reason)")
    /// ```
    ///
    /// Most plugins need none, because an error of a call says more. A plugin writes at most one line per event and
    /// hour.
    public struct OperatorLog: Sendable {
        private let reporters: [any WarningReporting]

        /// Creates a log, as the provider does; a test of a plugin may create one, too.
        ///
        /// - Parameter reporters: the plugins that may write a warning; the first that does is the only one.
        public init(_ reporters: [any WarningReporting]) { self.reporters = reporters }

        /// Creates the log of a stack.
        init(of plugins: [any PluginType]) { self.init(plugins.compactMap { $0 as? any WarningReporting }) }

        /// Writes a line: with the first plugin of the stack that writes warnings, such as one with a logger; otherwise
        /// to standard error, on Apple platforms to the system's log.
        ///
        /// - Parameter message: the line, without a secret.
        public func warning(_ message: String) {
            if !reporters.contains(where: { $0.report(warning: message) }) { DeveloperWarning.write(message) }
        }
    }
}

extension PipelineContext {
    /// Where plugins of the stack write what an operator has to know.
    public var operatorLog: PipelineContext.OperatorLog { call.settings.operatorLog }
}
