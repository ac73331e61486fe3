/// A plugin, which takes part in the stages whose protocols in ``Stage`` it conforms to.
///
/// A plugin is a value and safe to use from many calls at once. The pipeline runs no plugin code under a lock, except for the closure of
/// ``PipelineContext/update(_:_:)``.
public protocol PluginType: Sendable {
    /// The name in errors and in `explain()`; by default the type's name.
    var name: String { get }
}

extension PluginType {
    /// The type's name.
    public var name: String { "\(Self.self)" }
}
