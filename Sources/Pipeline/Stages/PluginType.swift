/// What every plugin is; which stages it takes part in is said by the protocols in ``Stage`` that it conforms to.
///
/// A plugin is a value and safe to use from many calls at once. The pipeline runs no plugin code under a lock.
public protocol PluginType: Sendable {
    /// The name in errors and in `explain()`; by default the type's name.
    var name: String { get }
}

extension PluginType {
    /// The type's name.
    public var name: String { "\(Self.self)" }
}
