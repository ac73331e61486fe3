public import PipelineCore

private enum Deduplication: RequestOptions.Key {
    static let defaultValue: DeduplicationPlugin.Participation? = nil

    static func pluginOption(for value: DeduplicationPlugin.Participation?) -> RequestOptions.PluginOption? {
        value == .on ? .deduplication : nil
    }
}

extension RequestOptions {
    /// Whether ``DeduplicationPlugin`` lets the call share its exchange, whatever its method.
    ///
    /// Defaults to `nil`: the method decides.
    ///
    /// ```swift
    /// // A POST that changes nothing.
    /// try await provider.request(.search(query), options: .init { $0.deduplication = .on })
    /// ```
    public var deduplication: DeduplicationPlugin.Participation? {
        get { self[Deduplication.self] }
        set { self[Deduplication.self] = newValue }
    }
}

extension DeduplicationPlugin {
    /// A choice of whether a call shares its exchange.
    public struct Participation: Sendable, Hashable {
        let isOn: Bool

        /// The call shares its exchange with equal ones, even if its method is not safe.
        public static let on = Participation(isOn: true)
        /// The call has an exchange of its own and shares it with no other call.
        public static let off = Participation(isOn: false)
    }
}

extension RequestOptions.PluginOption {
    /// The plugin option for ``RequestOptions/deduplication``.
    public static let deduplication = Self("deduplication", of: "DeduplicationPlugin")
}

extension DeduplicationPlugin: OptionHandling {
    /// The option that this plugin handles: `deduplication`.
    public var handledOptions: [RequestOptions.PluginOption] { [.deduplication] }
}
