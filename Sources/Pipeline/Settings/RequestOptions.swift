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
    @usableFromInline var values: [ObjectIdentifier: any Sendable] = [:]
    /// What plugins have to handle for the values to take effect, by key.
    @usableFromInline var pluginOptions: [ObjectIdentifier: PluginOption] = [:]

    /// No settings: every key has its default.
    public init() {}

    /// Settings made by a closure.
    public init(_ configure: (inout RequestOptions) -> Void) {
        configure(&self)
    }

    /// The value of a key.
    @inlinable
    public subscript<Key: RequestOptionKey>(key: Key.Type) -> Key.Value {
        get { values.isEmpty ? Key.defaultValue : values[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
        set {
            values[ObjectIdentifier(key)] = newValue
            let option = Key.pluginOption(for: newValue)
            if option != nil || !pluginOptions.isEmpty { pluginOptions[ObjectIdentifier(key)] = option }
        }
    }

    /// Whether one of these options is set to a value that asks for a plugin.
    func sets(anyOf options: Set<PluginOption>) -> Bool {
        !pluginOptions.isEmpty && pluginOptions.values.contains(where: options.contains)
    }

    /// These options with those of a call over them.
    package func overridden(by other: RequestOptions) -> RequestOptions {
        if other.values.isEmpty { return self }
        if values.isEmpty { return other }
        var merged = self
        merged.values.merge(other.values) { _, new in new }
        if !pluginOptions.isEmpty || !other.pluginOptions.isEmpty {
            for key in other.values.keys { merged.pluginOptions[key] = other.pluginOptions[key] }
        }
        return merged
    }
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
