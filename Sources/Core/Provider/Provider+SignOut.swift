/// A plugin that keeps data of the signed-in user, such as a credential, cookies or stored responses.
public protocol SignOutHandling: PluginType {
    /// Removes the data that the plugin keeps of the user.
    ///
    /// After that, the plugin must not keep data from the responses to calls in progress either.
    ///
    /// - Throws: an error if some of the data could not be removed.
    func signOut() async throws
}

extension Provider {
    /// Removes the credentials, cookies and stored responses of the user, and cancels background calls.
    ///
    /// ```swift
    /// try await provider.signOut()
    /// ```
    ///
    /// Cancels the background calls, and then runs ``SignOutHandling/signOut()`` of each plugin that has it, innermost
    /// first. Calls in progress are not cancelled, but the plugins keep nothing of their responses.
    ///
    /// Sends nothing to the server, so end the session there first. A credential that a closure of yours returns to a
    /// plugin is not removed.
    ///
    /// - Throws: the first error that a plugin throws, after all plugins have run.
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
