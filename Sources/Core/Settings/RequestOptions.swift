/// Typed settings of one request: a plugin publishes a key, and a target or a call sets its value.
///
/// ```swift
/// enum RetryCount: RequestOptions.Key { static let defaultValue = 2 }
///
/// extension RequestOptions {
///     var retryCount: Int {
///         get { self[RetryCount.self] }
///         set { self[RetryCount.self] = newValue }
///     }
/// }
///
/// try await provider.request(.zen, options: .init { $0.retryCount = 0 })
/// ```
///
/// Options of a call override those of its target, key by key. If a call sets an option whose plugin is not in the
/// stack, the provider's ``ProviderConfiguration/UnhandledOptionPolicy`` decides what happens.
public struct RequestOptions: Sendable {
    /// The values that were set, by key.
    @usableFromInline var settings: [ObjectIdentifier: Setting] = [:]

    /// Makes options without settings; every key has its default.
    public init() {}

    /// Makes options with settings from a closure.
    public init(_ configure: (inout RequestOptions) -> Void) {
        configure(&self)
    }

    /// The value of a key, which is the key's default if it was not set.
    public subscript<Key: RequestOptions.Key>(key: Key.Type) -> Key.Value {
        @inlinable get {
            settings.isEmpty
                ? Key.defaultValue
                : settings[ObjectIdentifier(key)].flatMap { $0.value as? Key.Value } ?? Key.defaultValue
        }
        set {
            settings[ObjectIdentifier(key)] =
                Setting(
                    key: key,
                    value: newValue,
                    pluginOption: Key.pluginOption(for: newValue),
                    sharingText: Key.sharingText(for: newValue)
                )
        }
    }

    /// The options that plugins have to handle for the values to take effect.
    var pluginOptions: some Sequence<PluginOption> { settings.values.lazy.compactMap(\.pluginOption) }

    /// Returns whether one of these options is set to a value that requires a plugin.
    func sets(anyOf options: Set<PluginOption>) -> Bool {
        !settings.isEmpty && pluginOptions.contains(where: options.contains)
    }

    /// What must be equal for two calls to share an exchange; empty if the options do not matter.
    ///
    /// A plugin that shares exchanges compares it, with the attempt and idle timeouts.
    public var sharingTexts: [String] {
        if settings.isEmpty { return [] }
        return settings.values.compactMap { setting in setting.sharingText.map { "\(setting.key) \($0)" } }.sorted()
    }

    /// Returns these options, overridden by those of a call.
    package func overridden(by other: RequestOptions) -> RequestOptions {
        if other.settings.isEmpty { return self }
        if settings.isEmpty { return other }
        var merged = self
        merged.settings.merge(other.settings) { _, new in new }
        return merged
    }

    /// The value of a key, as it was set.
    @usableFromInline
    struct Setting: Sendable {
        let key: any RequestOptions.Key.Type
        @usableFromInline let value: any Sendable
        let pluginOption: PluginOption?
        let sharingText: String?
    }
}

extension RequestOptions: SafelyDescribed {
    /// The options that were set, by the names of their keys.
    ///
    /// Numbers, Booleans and durations are shown by value, all other values by type.
    public var description: String {
        settings.isEmpty ? "no options" : settings.values.map(\.description).sorted().joined(separator: ", ")
    }
}

extension RequestOptions.Setting {
    /// Shows values other than numbers, Booleans and durations by type, because they may hold secrets.
    fileprivate var description: String {
        let name = String(describing: key)
        return name.prefix(1).lowercased() + name.dropFirst() + ": " + Self.shown(value)
    }

    private static func shown(_ value: Any) -> String {
        switch value {
        case let value as any OptionalValue: value.wrappedValue.map(shown) ?? "nil"
        case is Bool, is any Numeric, is Duration: "\(value)"
        default: String(describing: type(of: value))
        }
    }
}

extension RequestOptions {
    /// A key of ``RequestOptions``, with the type and the default of its value.
    public protocol Key: SendableMetatype {
        /// The type of the setting.
        associatedtype Value: Sendable
        /// The value for a request that does not set the key.
        static var defaultValue: Value { get }
        /// Returns the option that a plugin has to handle for a value to take effect.
        ///
        /// Return `nil`, the default, if the core or a transport reads the option, or if the value requires no plugin,
        /// such as `nil` or a value that turns the plugin off.
        static func pluginOption(for value: Value) -> RequestOptions.PluginOption?
        /// Returns a text that must be equal for two calls to share an exchange.
        ///
        /// Return `nil`, the default, if calls with different values may share one.
        static func sharingText(for value: Value) -> String?
    }
}

extension RequestOptions.Key {
    /// Returns `nil`: no plugin has to handle the option.
    public static func pluginOption(for value: Value) -> RequestOptions.PluginOption? { nil }

    /// Returns `nil`: calls with different values may share an exchange.
    public static func sharingText(for value: Value) -> String? { nil }
}
