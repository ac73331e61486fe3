extension ProviderConfiguration {
    /// A policy for leaks and faults in the order of a stack, which are found when a provider is made.
    ///
    /// ```swift
    /// let configuration = ProviderConfiguration(findings: .warn.ignoring("retry-inside-retry"))
    /// let strict = ProviderConfiguration(findings: .stop)
    /// let own = ProviderConfiguration(findings: .report { finding in logger.warning("\(finding)") })
    /// ```
    ///
    /// ``Provider/explain()`` also lists hints, which are never reported. A stack with a leak shares less than it
    /// could, and nothing between accounts.
    ///
    /// **Effects**: each provider reports each of its findings once, when it is made.
    ///
    /// **Secrets**: findings contain the names of plugins, transports and settings, never values.
    public struct FindingPolicy: Sendable {
        enum Action {
            case warn
            case report(@Sendable (PipelineDescription.Finding) -> Void)
            case stop
        }

        let action: Action
        private var ignored: Set<String> = []

        /// Writes a line for each finding: with the first plugin of the stack that writes warnings, such as one with a
        /// logger; otherwise to standard error, on Apple platforms to the system's log.
        public static let warn = ProviderConfiguration.FindingPolicy(action: .warn)

        /// Stops the program; intended for development.
        public static let stop = ProviderConfiguration.FindingPolicy(action: .stop)

        /// Calls a closure for each finding.
        ///
        /// - Parameter report: receives the finding. It runs while the provider is made.
        /// - Returns: the policy.
        public static func report(
            _ report: @escaping @Sendable (_ finding: PipelineDescription.Finding) -> Void
        ) -> ProviderConfiguration.FindingPolicy {
            ProviderConfiguration.FindingPolicy(action: .report(report))
        }

        /// Returns the policy without the findings of some rules.
        ///
        /// - Parameter ids: the identifiers of the rules, such as `retry-inside-retry`.
        /// - Returns: the policy.
        public func ignoring(_ ids: String...) -> ProviderConfiguration.FindingPolicy {
            var policy = self
            policy.ignored.formUnion(ids)
            return policy
        }

        /// A policy that replaces those of all providers that the current task makes; `nil` for none.
        ///
        /// It is for tests, which cannot always change how a provider is made.
        @TaskLocal public static var override: ProviderConfiguration.FindingPolicy?

        private init(action: Action) { self.action = action }

        /// Reports the findings of a provider.
        func report(_ plugins: [any PluginType], _ transport: any Transport, for target: any TargetType.Type) {
            let policy = Self.override ?? self
            for finding in PipelineDescription.findings(of: plugins, transport, for: target)
            where finding.severity != .hint {
                if !policy.ignored.contains(finding.id) { policy.report(finding, plugins, target) }
            }
        }

        private func report(
            _ finding: PipelineDescription.Finding,
            _ plugins: [any PluginType],
            _ target: any TargetType.Type
        ) {
            switch action {
            case .report(let report): report(finding)
            case .stop: preconditionFailure("Provider<\(target)>: \(finding)")
            case .warn: PipelineContext.OperatorLog(of: plugins).warning("Provider<\(target)>: \(finding)")
            }
        }
    }
}

/// A plugin that writes the warnings of its stack, such as one with a logger.
///
/// The warnings are those of the other plugins, see ``PipelineContext/OperatorLog``, and the findings of the order, see
/// ``ProviderConfiguration/FindingPolicy/warn``.
public protocol WarningReporting: PluginType {
    /// Writes a warning in place of standard error.
    ///
    /// - Parameter warning: the text, without a secret.
    /// - Returns: whether it was written.
    func report(warning: String) -> Bool
}
