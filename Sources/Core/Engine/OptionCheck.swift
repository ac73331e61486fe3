import Synchronization

/// Finds options of calls that no plugin of a provider handles.
final class OptionCheck: Sendable {
    private let policy: ProviderConfiguration.UnhandledOptionPolicy
    private let handled: Set<RequestOptions.PluginOption>
    private let provider: Any.Type
    private let reported = Mutex<Set<RequestOptions.PluginOption>>([])

    /// Makes the check of a provider, whose type its messages name.
    init(
        _ policy: ProviderConfiguration.UnhandledOptionPolicy,
        handledBy plugins: [any PluginType],
        in provider: Any.Type
    ) {
        self.provider = provider
        self.policy = policy
        handled = Set(plugins.lazy.compactMap { $0 as? any OptionHandling }.flatMap(\.handledOptions))
    }

    /// Reports each unhandled option once, or throws, depending on the policy.
    ///
    /// - Parameter options: the options of a call.
    /// - Throws: `invalidRequest.option`, if the policy fails such calls.
    @inline(__always)
    func check(_ options: RequestOptions) throws(PipelineError) {
        if !options.settings.isEmpty { try find(options) }
    }

    @inline(never)
    private func find(_ options: RequestOptions) throws(PipelineError) {
        switch policy.action {
        case .ignore:
            return
        case .fail:
            let found = Set(options.pluginOptions).subtracting(handled)
            guard !found.isEmpty else { return }
            let messages = found.map(message).sorted()
            throw PipelineError(.invalidRequest(.option), messages.joined(separator: "; "))
        case .warn(let report):
            for option in options.pluginOptions where !handled.contains(option) {
                guard reported.withLock({ $0.insert(option).inserted }) else { continue }
                report(message(option))
            }
        }
    }

    private func message(_ option: RequestOptions.PluginOption) -> String {
        "the option \(option.name) has no effect because no plugin of \(provider) handles it; "
            + "add \(option.plugin), or conform the plugin that handles it to OptionHandling"
    }
}
