#if Redis
public import PipelineCore
@_exported @_spi(Stores) public import PipelineRedis

/// A store that keeps responses in Redis, so that many processes share them.
///
/// ```swift
/// let store = RedisCacheStore(try RedisServer(), prefix: "orders")
/// ```
///
/// Use one store per process and prefix. Give the server `maxmemory` and the policy `allkeys-lru`: the time to live
/// bounds how long responses are kept, but only the server can bound their bytes.
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
/// | `prefix` | `cache` | 1 to 64 bytes |
/// | `timeToLive` | 1 day | 1 second to 10 years |
/// | `maximumBodyByteCount` | 8 MiB | 0 to 1 GiB |
/// | `timeout` | 1 s | 1 ms to 1 minute |
///
/// **Errors**: ``CacheStoreError``, and `CancellationError` if the task is cancelled.
///
/// **Secrets**: those of `RedisServer`. Every client that can read the keys in Redis can read the responses.
public struct RedisCacheStore: CacheStore {
    let maximumBodyByteCount: Int
    /// How long an entry lives, in seconds.
    let timeToLive: Int
    private let client: RedisClient
    let keys: RedisKeys

    /// Creates a store; connects when it is first used.
    ///
    /// - Parameters:
    ///   - server: where Redis is.
    ///   - prefix: the beginning of all keys; stores with different prefixes do not share responses.
    ///   - timeToLive: how long an entry lives after it was written or updated, rounded up to seconds.
    ///   - maximumBodyByteCount: the most bytes of a body.
    ///   - timeout: how long a call may take.
    public init(
        _ server: RedisServer,
        prefix: String = "cache",
        timeToLive: Duration = .seconds(86_400),
        maximumBodyByteCount: Int = 8 << 20,
        timeout: Duration = .seconds(1)
    ) {
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
        self.maximumBodyByteCount = maximumBodyByteCount
        self.timeToLive = Int((timeToLive / .seconds(1)).rounded(.up))
        client = RedisClient(server, timeout: timeout)
        keys = RedisKeys(prefix: prefix)
    }

    /// The number of calls that wait for a connection.
    var waitingCount: Int { client.waitingCount }

    /// Sends commands and returns their replies.
    ///
    /// - Throws: ``CacheStoreError`` and `CancellationError`.
    func send(_ request: RedisRequest, survivesCancellation: Bool = false) async throws -> [RedisReply] {
        do {
            return try await client.send(request, survivesCancellation: survivesCancellation)
        } catch let error as RedisError {
            throw CacheStoreError(error)
        }
    }

    /// Sends commands without waiting for their replies.
    func post(_ request: RedisRequest) { client.post(request) }
}

extension RedisCacheStore: SafelyDescribed {
    /// The kind of the store, without its host.
    public var description: String { "responses in Redis" }
}

extension CacheStoreError {
    static func redis(_ code: Code, _ detail: String? = nil) -> CacheStoreError {
        CacheStoreError(code, "Redis", detail)
    }

    /// Creates the error of a store from that of its server.
    init(_ error: RedisError) {
        let code: Code =
            switch error.code {
            case .notWritable: .notWritable
            case .full: .full
            case .corrupt: .corrupt
            case .timedOut: .timedOut
            case .notAllowed: .notAllowed
            default: .unavailable
            }
        self.init(code, "Redis", error.detail)
    }
}
#endif
