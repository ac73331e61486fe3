/// A target that is a value with modifiers, of which one sets options.
///
/// A plugin adds a modifier for an option of its own to all of them, without a reference to the module of any:
///
/// ```swift
/// extension OptionsModifying {
///     func priority(_ priority: Int) -> Self { options { $0.priority = priority } }
/// }
/// ```
public protocol OptionsModifying: TargetType {
    /// Returns a copy with other settings for plugins and transports.
    ///
    /// - Parameter configure: changes the settings.
    /// - Returns: the copy.
    func options(_ configure: (inout RequestOptions) -> Void) -> Self
}
