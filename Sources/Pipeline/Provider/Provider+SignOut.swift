/// A plugin that keeps something of the user who is signed in, such as a credential, cookies or stored responses.
public protocol SignOutHandling: PluginType {
    /// Removes what the plugin keeps of the user.
    ///
    /// What calls in progress bring after that must not be kept either.
    ///
    /// - Throws: an error if something could not be removed.
    func signOut() async throws
}

extension Provider {
    /// Removes all that the user who is signed in has left.
    ///
    /// This includes credentials, cookies, stored responses and background calls.
    ///
    /// ```swift
    /// try await provider.signOut()
    /// ```
    ///
    /// It cancels the background calls, and then runs ``SignOutHandling/signOut()`` of each plugin, innermost first.
    /// Calls in progress are not cancelled, but plugins keep nothing of their responses. Nothing is sent to the server;
    /// end the session there first.
    ///
    /// - Throws: the first error that a plugin throws. The other plugins have removed what they keep.
    public func signOut() async throws {
        engine.settings.background.cancelAll()
        var failure: (any Error)?
        for case let plugin as any SignOutHandling in plugins.reversed() {
            do {
                try await plugin.signOut()
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}
