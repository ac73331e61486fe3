/// A place in which several processes reserve the requests of a shared rate limit.
///
/// A store spaces the reservations of a key evenly: each begins at the earliest moment at which the key is due, and
/// makes the key due later by its cost times the interval. After a pause, a burst may be reserved without spacing.
/// Reservations expire unused if their request is not sent.
///
/// Run `RateLimitStoreConformance` of `PipelineTesting` against your own.
public protocol RateLimitStore: Sendable {
    /// Reserves one request, in one step that no other reservation interrupts.
    ///
    /// - Parameters:
    ///   - cost: the number of intervals that the request takes, 1 and up.
    ///   - key: the name of the limit. It contains no secrets.
    ///   - interval: the time between two requests that cost 1, more than zero.
    ///   - burst: the cost of the requests that may be reserved without spacing after a pause, 1 and up.
    ///   - maximumWait: the longest wait that is of use; `nil` if any is.
    /// - Returns: how long to wait before the request is sent, zero and up. If it is more than `maximumWait`, nothing
    ///   was reserved.
    /// - Throws: an error if the store is unavailable; the caller then goes on without it. A store must not take longer
    ///   than a fraction of a second, so it fails at once for a while after it was unavailable.
    func reserve(
        _ cost: Int,
        of key: String,
        interval: Duration,
        burst: Int,
        within maximumWait: Duration?
    ) async throws -> Duration
}
