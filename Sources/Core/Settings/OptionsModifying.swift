/// A target that has modifiers, including one that changes its options.
///
/// A plugin can add a modifier for its own option to all such targets without importing their modules:
///
/// ```swift
/// extension OptionsModifying {
///     func priority(_ priority: Int) -> Self { options { $0.priority = priority } }
/// }
/// ```
public protocol OptionsModifying: TargetType {
    /// Returns a copy with changed settings for plugins and transports.
    ///
    /// - Parameter configure: changes the settings.
    /// - Returns: the copy.
    func options(_ configure: (inout RequestOptions) -> Void) -> Self
}
