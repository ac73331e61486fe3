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
/// Options given to a call win over those of its target, key by key.
public struct RequestOptions: Sendable {
    @usableFromInline var values: [ObjectIdentifier: any Sendable] = [:]

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
        set { values[ObjectIdentifier(key)] = newValue }
    }

    /// These options with those of a call over them.
    package func overridden(by other: RequestOptions) -> RequestOptions {
        if other.values.isEmpty { return self }
        if values.isEmpty { return other }
        var merged = self
        merged.values.merge(other.values) { _, new in new }
        return merged
    }
}

/// A key of ``RequestOptions``.
public protocol RequestOptionKey: SendableMetatype {
    /// The type of the setting.
    associatedtype Value: Sendable
    /// The setting of a request that says nothing.
    static var defaultValue: Value { get }
}
