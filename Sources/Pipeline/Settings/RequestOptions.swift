/// Typed settings of one request, by key: a plugin publishes a key, a target or a call sets it.
///
/// ```swift
/// enum RetryCount: RequestOptionKey { static let defaultValue = 2 }
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
/// Options given to a call win over those of its target, key by key. The ``UnhandledOptionPolicy`` of a provider decides what happens
/// if a call sets an option whose plugin is not in the stack.
public struct RequestOptions: Sendable {
    /// What was set, by key.
    @usableFromInline var settings: [ObjectIdentifier: Setting] = [:]

    /// No settings: every key has its default.
    public init() {}

    /// Settings made by a closure.
    public init(_ configure: (inout RequestOptions) -> Void) {
        configure(&self)
    }

    /// The value of a key.
    @inlinable
    public subscript<Key: RequestOptionKey>(key: Key.Type) -> Key.Value {
        get {
            settings.isEmpty
                ? Key.defaultValue : settings[ObjectIdentifier(key)]?.value as? Key.Value ?? Key.defaultValue
        }
        set {
            settings[ObjectIdentifier(key)] =
                Setting(key: key, value: newValue, pluginOption: Key.pluginOption(for: newValue))
        }
    }

    /// What plugins have to handle for the values to take effect.
    var pluginOptions: some Sequence<PluginOption> { settings.values.lazy.compactMap(\.pluginOption) }

    /// Whether one of these options is set to a value that asks for a plugin.
    func sets(anyOf options: Set<PluginOption>) -> Bool {
        !settings.isEmpty && pluginOptions.contains(where: options.contains)
    }

    /// These options with those of a call over them.
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
        let key: any RequestOptionKey.Type
        @usableFromInline let value: any Sendable
        let pluginOption: PluginOption?

        @usableFromInline
        init(key: any RequestOptionKey.Type, value: any Sendable, pluginOption: PluginOption?) {
            self.key = key
            self.value = value
            self.pluginOption = pluginOption
        }
    }
}

extension RequestOptions: SafelyDescribed {
    /// The options that were set, by the names of their keys; values other than numbers, Booleans and durations are shown by their types.
    public var description: String {
        settings.isEmpty ? "no options" : settings.values.map(\.description).sorted().joined(separator: ", ")
    }
}

extension RequestOptions.Setting {
    /// Any other value may hold a secret.
    fileprivate var description: String {
        let name = String(describing: key)
        return name.prefix(1).lowercased() + name.dropFirst() + ": " + Self.shown(value)
    }

    private static func shown(_ value: Any) -> String {
        switch value {
        case let value as any OptionalValue: value.wrapped.map(shown) ?? "nil"
        case is Bool, is any Numeric, is Duration: "\(value)"
        default: String(describing: type(of: value))
        }
    }
}

/// An optional of any type.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { self }
}

/// A key of ``RequestOptions``.
public protocol RequestOptionKey: SendableMetatype {
    /// The type of the setting.
    associatedtype Value: Sendable
    /// The setting of a request that says nothing.
    static var defaultValue: Value { get }
    /// Returns the option that a plugin has to handle for a value to take effect.
    ///
    /// Returns `nil`, the default, if the core or a transport reads the option, or if the value asks a plugin for nothing, such as
    /// `nil` or a value that turns the plugin off.
    static func pluginOption(for value: Value) -> RequestOptions.PluginOption?
}

extension RequestOptionKey {
    /// No plugin has to handle the option.
    public static func pluginOption(for value: Value) -> RequestOptions.PluginOption? { nil }
}
