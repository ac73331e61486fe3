/// A plugin that declares which call options it handles.
///
/// A provider compares the options of each call with those that its plugins declare. If no plugin handles an option,
/// the provider's ``ProviderConfiguration/UnhandledOptionPolicy`` decides what happens. Any plugin may declare any
/// option, so your own can replace the plugin that publishes it:
///
/// ```swift
/// struct LoginPlugin: Stage.Prepare, OptionHandling {
///     var handledOptions: [RequestOptions.PluginOption] { [.basicAuth] }
///
///     func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
///         guard let credential = context.options.basicAuth else { return }
///         …
///     }
/// }
/// ```
public protocol OptionHandling: PluginType {
    /// The options that the plugin handles; read once, when the provider is made.
    var handledOptions: [RequestOptions.PluginOption] { get }

    /// The stages that do nothing for most calls, each with the options that it acts on; read once, when the provider
    /// is made.
    ///
    /// The pipeline runs such a stage only if the call or its target sets one of these options to a value that requires
    /// a plugin. A stage without options never runs. This applies to the prepare, intercept and process stages; other
    /// stages always run.
    ///
    /// ```swift
    /// var idleStages: [Stage.Kind: Set<RequestOptions.PluginOption>] {
    ///     total == nil ? [.intercept: [.totalTimeout]] : [:]
    /// }
    /// ```
    ///
    /// Defaults to no stages.
    var idleStages: [Stage.Kind: Set<RequestOptions.PluginOption>] { get }
}

extension OptionHandling {
    /// No stages: every stage of the plugin runs for every call.
    public var idleStages: [Stage.Kind: Set<RequestOptions.PluginOption>] { [:] }
}

extension RequestOptions {
    /// An option that takes effect only if a plugin handles it.
    ///
    /// A plugin publishes one next to its ``RequestOptions/Key``:
    ///
    /// ```swift
    /// enum RetryCount: RequestOptions.Key {
    ///     static let defaultValue: Int? = nil
    ///
    ///     static func pluginOption(for value: Int?) -> RequestOptions.PluginOption? {
    ///         value.map { _ in .retryCount }
    ///     }
    /// }
    ///
    /// extension RequestOptions.PluginOption {
    ///     static let retryCount = Self("retryCount", of: "MyRetryPlugin")
    /// }
    /// ```
    public struct PluginOption: Sendable, Hashable {
        /// The name of the option, for messages.
        public let name: String
        /// The name of the plugin that handles it, for messages.
        public let plugin: String

        /// Makes an option from its name and that of its plugin.
        ///
        /// - Parameters:
        ///   - name: the option as callers write it, for example `retryCount`.
        ///   - plugin: the plugin that handles it, for example `MyRetryPlugin`.
        public init(_ name: String, of plugin: String) {
            self.name = name
            self.plugin = plugin
        }
    }
}
