/// A type that holds secrets and shows nothing but its own description.
///
/// The only requirement is `description`, which must not contain a secret. `print`, string interpolation, `String(reflecting:)`
/// and `dump` then show that text in place of the stored properties, also inside a collection or an optional.
///
/// ```swift
/// struct Session: SafelyDescribed {
///     let token: String
///     var description: String { "a session" }
/// }
/// ```
///
/// A conforming type may implement `debugDescription` to show developers more; that text must not contain a secret either.
public protocol SafelyDescribed: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension SafelyDescribed {
    /// The description.
    public var debugDescription: String { description }

    /// A mirror without children, so that `dump` shows no stored property.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
