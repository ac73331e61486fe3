#if Redis
import Dispatch

/// A thread and the connection that is used on it.
///
/// `@unchecked Sendable`: `connection` is used only on `queue`, which is serial.
final class RedisLane: @unchecked Sendable {
    let queue = DispatchQueue(label: "pipeline.redis")
    var connection: RedisConnection?
}
#endif
