import Synchronization

/// The login state: the current access token, held only in memory.
final class Session: Sendable {
    private let token = Mutex<String?>(nil)

    /// The token for requests that require one; `nil` while no user is logged in.
    var accessToken: String? { token.withLock { $0 } }

    func begin(with token: String) { self.token.withLock { $0 = token } }

    func end() { token.withLock { $0 = nil } }
}
