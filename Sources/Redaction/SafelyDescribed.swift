/// A type that contains secrets and shows only its own description.
///
/// The only requirement is `description`, which must not contain a secret. `print`, string interpolation,
/// `String(reflecting:)` and `dump` then show that text instead of the stored properties, also inside a collection or
/// an optional.
///
/// ```swift
/// struct Session: SafelyDescribed {
///     let token: String
///     var description: String { "a session" }
/// }
/// ```
///
/// A conforming type may implement `debugDescription` to show developers more; that text must not contain a secret
/// either.
public protocol SafelyDescribed: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension SafelyDescribed {
    /// The same text as `description`, which contains no secret.
    public var debugDescription: String { description }

    /// A mirror without children, so that `dump` shows no stored property.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
