import Synchronization

/// Finds the options of calls that no plugin of a provider handles.
final class OptionCheck: Sendable {
    private let policy: UnhandledOptionPolicy
    private let handled: Set<RequestOptions.PluginOption>
    private let reported = Mutex<Set<RequestOptions.PluginOption>>([])

    init(_ policy: UnhandledOptionPolicy, handledBy plugins: [any PluginType]) {
        self.policy = policy
        handled = Set(plugins.lazy.compactMap { $0 as? any OptionHandling }.flatMap(\.handledOptions))
    }

    /// Reports each unhandled option once, or throws, as the policy says.
    ///
    /// - Parameters:
    ///   - options: those of a call.
    ///   - provider: the type of the provider, for messages.
    /// - Throws: `invalidRequest.option`, if the policy is to fail.
    @inline(__always)
    func check(_ options: RequestOptions, in provider: Any.Type) throws(PipelineError) {
        if !options.pluginOptions.isEmpty { try find(options, provider) }
    }

    @inline(never)
    private func find(_ options: RequestOptions, _ provider: Any.Type) throws(PipelineError) {
        switch policy.action {
        case .ignore:
            return
        case .fail:
            let found = Set(options.pluginOptions.values).subtracting(handled)
            guard !found.isEmpty else { return }
            let messages = found.map { Self.message($0, provider) }.sorted()
            throw PipelineError(.invalidRequest(.option), messages.joined(separator: "; "))
        case .warn(let report):
            for option in options.pluginOptions.values where !handled.contains(option) {
                guard reported.withLock({ $0.insert(option).inserted }) else { continue }
                report(Self.message(option, provider))
            }
        }
    }

    private static func message(_ option: RequestOptions.PluginOption, _ provider: Any.Type) -> String {
        "the option \(option.name) has no effect because no plugin of \(provider) handles it; "
            + "add \(option.plugin), or conform the plugin that handles it to OptionHandling"
    }
}
