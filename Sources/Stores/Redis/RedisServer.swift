#if Redis
/// Where Redis is, and how a store connects to it.
struct RedisServer: Sendable {
    let host: String
    let port: Int
    let username: String?
    let password: (@Sendable () async throws -> String)?
    /// How long a connection attempt may take, and a request with the time that it waits for a connection.
    let timeout: Duration

    /// Returns a new connection, authenticated if there is a password; blocks.
    func connect(password: String?) throws(CacheStoreError) -> RedisConnection {
        let deadline = ContinuousClock.now + timeout
        let connection = try RedisConnection(host: host, port: port, timeout: timeout)
        guard let password else { return connection }
        var command: [RedisRequest.Argument] = ["AUTH"]
        if let username { command.append(.text(username)) }
        command.append(.text(password))
        guard case .string = try connection.perform(RedisRequest(command), before: deadline).first else {
            throw .redis(.notAllowed, "the username or the password is wrong")
        }
        return connection
    }

    /// Whether a host is a loopback address: `localhost` and its subdomains, `127.0.0.0/8`, and `::1`.
    var isLoopback: Bool {
        let host = host.lowercased()
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127"
            && numbers.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isNumber } && UInt8($0) != nil }
    }
}
#endif
