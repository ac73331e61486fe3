#if Redis
public import PipelineRedaction

/// Where Redis is, and who the client is.
///
/// ```swift
/// let server = try RedisServer(host: "10.0.0.5", cleartext: .allowed)
/// let cache = RedisCacheStore(server, prefix: "orders")
/// ```
///
/// It must be a single Redis, version 6 or later, that permits scripts; Redis Cluster is not supported.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `host`, `port` | 127.0.0.1, 6379 | |
/// | `username`, `password` | none | |
/// | `cleartext` | ``Cleartext/loopbackOnly`` | |
///
/// **Secrets**: the connection is not encrypted, so hosts other than loopback addresses are refused unless `cleartext`
/// allows them. No description and no error contains the host, the username, or the password.
public struct RedisServer: Sendable {
    /// Where a store may connect to, as its connections are not encrypted.
    public struct Cleartext: Sendable, Hashable {
        private enum Kind { case loopbackOnly, allowed }

        private let kind: Kind

        /// Allows only a loopback address: `localhost` and its subdomains, `127.0.0.0/8`, and `::1`.
        public static let loopbackOnly = Cleartext(kind: .loopbackOnly)
        /// Allows any host, for a private network that is trusted with the password and all that is stored.
        public static let allowed = Cleartext(kind: .allowed)
    }

    let host: String
    let port: Int
    let username: String?
    let password: (@Sendable () async throws -> String)?

    /// Describes a server; connects when a store is first used.
    ///
    /// - Parameters:
    ///   - host: a host name or an address.
    ///   - port: a TCP port.
    ///   - username: the name for `AUTH`; without it, the password is that of the default user. Ignored if there is no
    ///     password.
    ///   - password: returns the password; called for each new connection, and without a time limit. While it runs,
    ///     calls that wait for the connection time out.
    ///   - cleartext: where a store may connect to.
    /// - Throws: ``RedisError`` with the code ``RedisError/Code-swift.struct/notAllowed`` if `cleartext` does not allow
    ///   the host.
    public init(
        host: String = "127.0.0.1",
        port: Int = 6379,
        username: String? = nil,
        password: (@Sendable () async throws -> String)? = nil,
        cleartext: Cleartext = .loopbackOnly
    ) throws(RedisError) {
        precondition((1...65_535).contains(port), "port \(port) is not in 1...65535")
        self.host = host
        self.port = port
        self.username = username
        self.password = password
        guard cleartext == .allowed || isLoopback else {
            throw RedisError(.notAllowed, "its host is not a loopback address; set cleartext to allow it")
        }
    }

    /// Returns a new connection, authenticated if there is a password; blocks.
    func connect(password: String?, timeout: Duration) throws(RedisError) -> RedisConnection {
        let deadline = ContinuousClock.now + timeout
        let connection = try RedisConnection(host: host, port: port, timeout: timeout)
        guard let password else { return connection }
        var command: [RedisRequest.Argument] = ["AUTH"]
        if let username { command.append(.text(username)) }
        command.append(.text(password))
        guard case .string = try connection.perform(RedisRequest(command), before: deadline).first else {
            throw RedisError(.notAllowed, "the username or the password is wrong")
        }
        return connection
    }

    /// Whether a host is a loopback address: `localhost` and its subdomains, `127.0.0.0/8`, and `::1`.
    private var isLoopback: Bool {
        let host = host.lowercased()
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127"
            && numbers.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isNumber } && UInt8($0) != nil }
    }
}

extension RedisServer: SafelyDescribed {
    /// A text without the host.
    public var description: String { "a Redis server" }
}
#endif
