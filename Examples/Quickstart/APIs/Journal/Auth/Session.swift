import Synchronization

/// Who is logged in: the token of this moment, in memory alone.
final class Session: Sendable {
    private let token = Mutex<String?>(nil)

    /// The token for requests that ask for one, `nil` while nobody is logged in.
    var accessToken: String? { token.withLock { $0 } }

    func begin(with token: String) { self.token.withLock { $0 = token } }

    func end() { token.withLock { $0 = nil } }
}
