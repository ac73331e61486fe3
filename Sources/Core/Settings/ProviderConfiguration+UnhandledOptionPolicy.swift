extension ProviderConfiguration {
    /// A policy for calls that set an option whose plugin is not in the stack.
    ///
    /// ```swift
    /// let configuration = ProviderConfiguration(unhandledOptions: .fail)
    /// let provider = Provider<GitHub>(transport: transport, plugins: plugins, configuration: configuration)
    /// try await provider.request(.zen, options: .init { $0.totalTimeout = .seconds(5) })
    /// // invalidRequest.option: the option totalTimeout has no effect because no plugin of Provider<GitHub>
    /// // handles it; add TimeoutPlugin, …
    /// ```
    ///
    /// An option is handled if a plugin in the stack declares it, see ``OptionHandling``. The position of the plugin
    /// does not matter. Options of the call and of its target are treated alike. Some values need no plugin: `nil`, a
    /// value that turns the plugin off, such as `retry = .never`, and a preference that is met without the plugin, such
    /// as `avoidLogError = true`.
    ///
    /// **Effects**: a call without plugin options is not checked. ``warn`` remembers the names of the options that it
    /// has reported.
    ///
    /// **Errors**: under ``fail``, the call fails with ``PipelineError/Code-swift.struct/invalidRequest(_:)`` and
    /// `.option` before the request is encoded. The process and didFinish stages see the failure.
    ///
    /// **Secrets**: messages contain the names of options and plugins and the provider's type, never values.
    public struct UnhandledOptionPolicy: Sendable {
        enum Action: Sendable {
            case ignore
            case warn(@Sendable (String) -> Void)
            case fail
        }

        let action: Action

        /// Sends the request without the option and writes a line to standard error, on Apple platforms to the system's
        /// log, once per option and provider.
        public static let warn = warn { DeveloperWarning.write($0) }

        /// Fails the call; intended for tests.
        public static let fail = ProviderConfiguration.UnhandledOptionPolicy(action: .fail)

        /// Sends the request without the option; intended for stacks whose closures handle options.
        public static let ignore = ProviderConfiguration.UnhandledOptionPolicy(action: .ignore)

        /// Sends the request without the option and calls a closure, once per option and provider.
        ///
        /// - Parameter report: receives a sentence that names the option, the provider and the plugin. It runs within
        ///   the call and must be quick.
        /// - Returns: the policy.
        public static func warn(
            _ report: @escaping @Sendable (_ message: String) -> Void
        ) -> ProviderConfiguration.UnhandledOptionPolicy {
            ProviderConfiguration.UnhandledOptionPolicy(action: .warn(report))
        }
    }
}
