import Synchronization

/// Who is logged in: the token of this moment, in memory alone.
final class Session: Sendable {
    /// A request asked for a token while nobody is logged in.
    struct NotLoggedIn: Error {}

    private let token = Mutex<String?>(nil)

    /// The token for requests that ask for one.
    var accessToken: String {
        get throws {
            guard let token = token.withLock({ $0 }) else { throw NotLoggedIn() }
            return token
        }
    }

    func begin(with token: String) { self.token.withLock { $0 = token } }

    func end() { token.withLock { $0 = nil } }
}
