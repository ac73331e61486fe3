/// A place in which several processes reserve the requests of a shared rate limit.
///
/// A store keeps a moment for each key, at which the next request is due. A request is reserved for the moment that is
/// (`cost` - `burst`) intervals later, or for now if that has passed or the key is new. The next one is then due `cost`
/// intervals after that or after the moment at which this one was due, whichever is later. A reservation whose request
/// is not sent is lost.
///
/// Run `RateLimitStoreConformance` of `PipelineTesting` against your own.
public protocol RateLimitStore: Sendable {
    /// Reserves one request, in one step that no other reservation interrupts.
    ///
    /// - Parameters:
    ///   - cost: the number of intervals that the request takes, 1 and up.
    ///   - key: the name of the limit. It contains no secrets.
    ///   - interval: the time between two requests that cost 1, more than zero.
    ///   - burst: the cost that may be reserved without spacing after a pause, 1 and up.
    ///   - maximumWait: the longest wait that is of use; `nil` if any is.
    /// - Returns: how long to wait before the request is sent, zero and up. If it is more than `maximumWait`, nothing
    ///   was reserved.
    /// - Throws: an error if the store is unavailable; the caller then goes on without it. A store must not take longer
    ///   than a fraction of a second, so it fails at once for a while after it was unavailable. The caller cancels the
    ///   task after 250 ms, and a store that does not heed that holds up the request.
    func reserve(
        _ cost: Int,
        of key: String,
        interval: Duration,
        burst: Int,
        within maximumWait: Duration?
    ) async throws -> Duration
}
