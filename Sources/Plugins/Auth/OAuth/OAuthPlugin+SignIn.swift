public import PipelineCore

extension OAuthPlugin {
    /// Whether there is a session, which is loaded from the store first.
    ///
    /// - Throws: an error of the store.
    public var isSignedIn: Bool {
        get async throws {
            try await restore()
            return tokens.credential != nil
        }
    }

    /// Signs in with the grant, and stores the new session.
    ///
    /// The new session replaces the current one when it has been stored; until then, calls use the current one. If it
    /// cannot be stored, its tokens are revoked as far as the server allows.
    ///
    /// - Throws: `PipelineError` with a code of the kind `oauth`: see `OAuthFailure`. Another
    ///   sign-in in progress is one reason. Errors of the closure of the grant, of the store and of the transport pass
    ///   through. `CancellationError` if the task is cancelled or the user signs out meanwhile; tokens that arrive
    ///   after that are revoked.
    public func signIn() async throws {
        try session.beginSignIn()
        defer { session.endSignIn() }
        let before = session.generation
        let credential = try await OAuthSignIn(session: session).credential()
        do {
            try await session.begin(credential, after: before) { await tokens.setCredential($0) }
        } catch {
            try? await session.revoke(credential)
            throw error
        }
    }
}

extension OAuthPlugin: SignOutHandling {
    /// Ends the session, removes it from the store, and revokes its tokens at the server.
    ///
    /// The session ends even if the tokens cannot be removed or revoked. If the task is cancelled, the revocation still
    /// goes on. `Provider.signOut()` calls this method, too.
    ///
    /// - Throws: the error of the store, or else that of the revocation; the server may then still accept the tokens.
    ///
    /// Source: RFC 7009, https://www.rfc-editor.org/rfc/rfc7009.html
    public func signOut() async throws {
        let restored = await Result { try await restore() }
        let ended = session.end()
        // A refresh whose caller has left may have brought a later one than calls know.
        let credential = ended?.credential ?? tokens.credential
        await tokens.setCredential(nil)
        let removed = await Result {
            try await session.remove(ended?.generation ?? 0) {
                if tokens.credential != nil { await tokens.setCredential(nil) }
            }
        }
        let revoked = await Result { if let credential { try await session.revoke(credential) } }
        try removed.get()
        try restored.get()
        try revoked.get()
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ work: () async throws -> Success) async {
        do {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}

extension OAuthPlugin: CapabilityDeclaring {
    /// The plugin declares what ``TokenRefreshPlugin`` does.
    public var capabilities: Set<PluginCapability> { tokens.capabilities }
}

extension OAuthPlugin: OptionHandling {
    /// The only option that the plugin handles is `authorized`.
    public var handledOptions: [RequestOptions.PluginOption] { tokens.handledOptions }
}

extension OAuthPlugin {
    /// The name of the plugin, which reveals no token.
    public var description: String { name }
}
