#if Redis
import Foundation
public import PipelineCore
@_exported @_spi(Stores) public import PipelineRedis
import Synchronization

/// A store that shares rate limits between processes through Redis.
///
/// ```swift
/// let store = RedisRateLimitStore(try RedisServer(), prefix: "orders")
/// RateLimitPlugin(RateLimit(100, per: .seconds(1)), store: store)
/// ```
///
/// If Redis loses or evicts a key, its limit starts anew, and requests that were reserved before are not counted.
///
/// **Effects**: a reservation is one script, which runs in one step and with one round trip. It uses the clock of
/// Redis; the clocks of the processes do not matter, and a clock of Redis that is set back delays nothing. The first
/// reservation needs a second round trip, which loads the script. Each limit is one key, which begins with the prefix
/// and expires once the limit is unused. The store uses up to four connections, each with a thread of its own; calls
/// wait for them without blocking, at most 1,000 at a time. After a failure of the connection, all calls fail at once
/// for a second; then one call per second tries to connect until it succeeds.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `prefix` | `limit` | 1 to 64 bytes |
/// | `timeout` | 100 ms | 1 ms to 1 minute |
///
/// **Errors**: `RedisError`, and `CancellationError` if the task is cancelled.
///
/// **Secrets**: those of `RedisServer`.
public struct RedisRateLimitStore: RateLimitStore {
    private let client: RedisClient
    private let prefix: String
    /// The name under which Redis keeps the script.
    private let digest = SharedDigest()

    private final class SharedDigest: Sendable {
        private let value = Mutex<Data?>(nil)

        var current: Data? { value.withLock { $0 } }

        func set(_ digest: Data) { value.withLock { $0 = digest } }
    }

    /// Creates a store; connects when it is first used.
    ///
    /// - Parameters:
    ///   - server: where Redis is.
    ///   - prefix: the beginning of all keys; stores with different prefixes do not share limits.
    ///   - timeout: how long a reservation may take.
    public init(
        _ server: RedisServer,
        prefix: String = "limit",
        timeout: Duration = .milliseconds(100)
    ) {
        precondition(
            (1...64).contains(prefix.utf8.count),
            "the prefix \(prefix.debugDescription) is not within 1 to 64 bytes"
        )
        precondition(
            (.milliseconds(1) ... .seconds(60)).contains(timeout),
            "timeout \(timeout) is not within 1 millisecond to 1 minute"
        )
        client = RedisClient(server, timeout: timeout)
        self.prefix = prefix
    }

    /// Reserves one request, in one step and with one round trip.
    ///
    /// - Throws: `RedisError`.
    public func reserve(
        _ cost: Int,
        of key: String,
        interval: Duration,
        burst: Int,
        within maximumWait: Duration?
    ) async throws -> Duration {
        let microseconds = interval / .microseconds(1)
        let parameters: [RedisRequest.Argument] = [
            "1", .text("\(prefix):2:\(key)"), .text(Self.text(microseconds * Double(cost))),
            .text(Self.text(microseconds * Double(cost - burst))),
            .text(maximumWait.map { Self.text(max(0, $0 / .microseconds(1))) } ?? "-1"),
        ]
        guard case .integer(let wait) = try await run(parameters) else { throw RedisError(.corrupt) }
        return .microseconds(wait)
    }

    /// Runs the script by its digest, or with its text if Redis does not know it.
    private func run(_ parameters: [RedisRequest.Argument]) async throws -> RedisReply {
        let digest: Data
        if let known = self.digest.current {
            digest = known
        } else {
            let reply = try await client.send(RedisRequest(["SCRIPT", "LOAD", .text(Self.script)])).first
            guard let loaded = reply?.string else { throw RedisError(.corrupt) }
            digest = loaded
            self.digest.set(loaded)
        }
        let reply = try await client.replies(to: RedisRequest(["EVALSHA", .bytes(digest)] + parameters)).first
        switch reply {
        case .error(let text) where text.hasPrefix("NOSCRIPT"):
            return try await client.send(RedisRequest(["EVAL", .text(Self.script)] + parameters)).first ?? .null
        case .error(let text): throw RedisError(reply: text)
        default: return reply ?? .null
        }
    }

    private static func text(_ microseconds: Double) -> String {
        String(format: "%.3f", min(max(microseconds, -1e15), 1e15))
    }

    /// Times are microseconds; the key holds when the next request is due, and the time of the last reservation.
    ///
    /// If the clock of Redis was set back since then, the due time moves with it.
    ///
    /// Arguments: how much later that is after this request, how much later than due it may be sent, the longest wait.
    private static let script = """
        local time = redis.call('TIME')
        local now = time[1] * 1000000 + time[2]
        local due, seen = string.match(redis.call('GET', KEYS[1]) or '0:0', '^(.-):(.+)$')
        due, seen = tonumber(due), tonumber(seen)
        if seen > now then due = due - (seen - now) end
        local start = math.max(now, due + tonumber(ARGV[2]))
        local wait = math.ceil(start - now)
        local longest = tonumber(ARGV[3])
        if longest >= 0 and wait > longest then return wait end
        local next = math.max(start, due) + tonumber(ARGV[1])
        local life = math.ceil((next - now) / 1000) + 1000
        redis.call('SET', KEYS[1], string.format('%.2f:%.0f', next, now), 'PX', string.format('%.0f', life))
        return wait
        """
}

extension RedisRateLimitStore: SafelyDescribed {
    /// The kind of the store, without its host.
    public var description: String { "rate limits in Redis" }
}
#endif
