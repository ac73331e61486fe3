#if Redis
public import PipelineRedaction

/// A store that keeps responses in Redis, so that many processes share them.
///
/// ```swift
/// let store = try RedisCacheStore(port: 6379, prefix: "orders")
/// ```
///
/// Use one store per process and prefix. The server must be a single Redis, version 6 or later, that permits scripts
/// (`EVAL`); Redis Cluster is not supported. Give it `maxmemory` and the policy `allkeys-lru`: the time to live bounds
/// how long responses are kept, but only the server can bound their bytes.
///
/// **Effects**: uses up to four connections, each with a thread of its own; calls wait for them without blocking. All
/// keys begin with the prefix and expire. An entry and its body become visible in one step. Locks use the clock of
/// Redis, so that one of all processes revalidates. If Redis evicts a part of an entry, the entry is gone.
///
/// Removing the responses of a resource or an account makes them unreachable in one step. Redis frees their memory when
/// their key is written again, when it needs memory, or after the time to live. A reader can read the body of a removed
/// or replaced entry for at least a minute. The first lookup after a removal takes two round trips. A response to an
/// earlier request is not stored, and neither is one whose request takes more than an hour or the time to live.
///
/// A call takes no longer than the timeout. After a failure of the connection, all calls fail at once for a second.
/// Then one call per second tries to connect until it succeeds. A cancelled call ends at once; removals and
/// ``unlock(_:_:)`` are sent nevertheless. At most 1,000 calls wait at a time.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `host`, `port` | 127.0.0.1, 6379 | |
/// | `username`, `password` | none | |
/// | `prefix` | `cache` | 1 to 64 bytes |
/// | `timeToLive` | 1 day | 1 second to 10 years |
/// | `maximumBodyByteCount` | 8 MiB | 0 to 1 GiB |
/// | `timeout` | 1 s | 1 ms to 1 minute |
/// | `cleartext` | ``Cleartext/loopbackOnly`` | |
///
/// **Errors**: ``CacheStoreError``, and `CancellationError` if the task is cancelled.
///
/// **Secrets**: the connection is not encrypted, so hosts other than loopback addresses are refused unless `cleartext`
/// allows them. Every client that can read the keys in Redis can read the responses. No description and no error
/// contains the host, the username, or the password.
public struct RedisCacheStore: CacheStore {
    /// Where a store may connect to, as its connections are not encrypted.
    public struct Cleartext: Sendable, Hashable {
        private enum Kind { case loopbackOnly, allowed }

        private let kind: Kind

        /// Allows only a loopback address: `localhost` and its subdomains, `127.0.0.0/8`, and `::1`.
        public static let loopbackOnly = Cleartext(kind: .loopbackOnly)
        /// Allows any host, for a private network that is trusted with the password and all responses.
        public static let allowed = Cleartext(kind: .allowed)
    }

    let maximumBodyByteCount: Int
    /// How long an entry lives, in seconds.
    let timeToLive: Int
    let client: RedisClient
    let keys: RedisKeys

    /// Creates a store; connects when it is first used.
    ///
    /// - Parameters:
    ///   - host: a host name or an address.
    ///   - port: a TCP port.
    ///   - username: the name for `AUTH`; without it, the password is that of the default user. Ignored if there is no
    ///     password.
    ///   - password: returns the password; called for each new connection, and without a time limit. While it runs,
    ///     calls that wait for the connection time out.
    ///   - prefix: the beginning of all keys; stores with different prefixes do not share responses.
    ///   - timeToLive: how long an entry lives after it was written or updated, rounded up to seconds.
    ///   - maximumBodyByteCount: the most bytes of a body.
    ///   - timeout: how long a call may take.
    ///   - cleartext: where the store may connect to.
    /// - Throws: ``CacheStoreError`` with the code ``CacheStoreError/Code-swift.struct/notAllowed`` if `cleartext` does
    ///   not allow the host.
    public init(
        host: String = "127.0.0.1",
        port: Int = 6379,
        username: String? = nil,
        password: (@Sendable () async throws -> String)? = nil,
        prefix: String = "cache",
        timeToLive: Duration = .seconds(86_400),
        maximumBodyByteCount: Int = 8 << 20,
        timeout: Duration = .seconds(1),
        cleartext: Cleartext = .loopbackOnly
    ) throws(CacheStoreError) {
        precondition((1...65_535).contains(port), "port \(port) is not in 1...65535")
        precondition(
            (1...64).contains(prefix.utf8.count),
            "the prefix \(prefix.debugDescription) is not within 1 to 64 bytes"
        )
        precondition(
            (.seconds(1) ... .seconds(315_360_000)).contains(timeToLive),
            "timeToLive \(timeToLive) is not within 1 second to 10 years"
        )
        precondition(
            (0...1 << 30).contains(maximumBodyByteCount),
            "maximumBodyByteCount \(maximumBodyByteCount) is not within 0 to 1 GiB"
        )
        precondition(
            (.milliseconds(1) ... .seconds(60)).contains(timeout),
            "timeout \(timeout) is not within 1 millisecond to 1 minute"
        )
        let server = RedisServer(host: host, port: port, username: username, password: password, timeout: timeout)
        guard cleartext == .allowed || server.isLoopback else {
            throw .redis(.notAllowed, "its host is not a loopback address; set cleartext to allow it")
        }
        self.maximumBodyByteCount = maximumBodyByteCount
        self.timeToLive = Int((timeToLive / .seconds(1)).rounded(.up))
        client = RedisClient(server)
        keys = RedisKeys(prefix: prefix)
    }
}

extension RedisCacheStore: SafelyDescribed {
    /// The kind of the store, without its host.
    public var description: String { "responses in Redis" }
}
#endif
