import Foundation
import PipelineCore
import PipelineHashes
import Synchronization

/// A rate limit that several processes share through a store.
final class SharedQuota: Sendable {
    /// The longest time that the store may take.
    private static let timeout: Duration = .milliseconds(250)
    /// For how long the store is not used after a failure.
    private static let pause: Duration = .seconds(1)
    /// The most reservations for one request.
    private static let maximumReservationCount = 3
    /// A round trip that is not late, however small the jitter is.
    private static let shortRoundTrip: Duration = .milliseconds(10)

    private let store: any RateLimitStore
    private let limit: RateLimit
    private struct State {
        var pauseEnd: PipelineClock.Instant?
        /// Why the store is unavailable; `nil` while it is not.
        var failure: String?
    }

    private let state = Mutex(State())
    private let onFailure: (@Sendable (any Error) -> Void)?

    init(
        _ store: any RateLimitStore,
        _ limit: RateLimit,
        onFailure: (@Sendable (any Error) -> Void)? = nil
    ) {
        self.store = store
        self.limit = limit
        self.onFailure = onFailure
    }

    /// Why the store was unavailable at its last use; `nil` if it was not.
    var failure: String? { state.withLock { $0.failure } }

    /// Reserves a request.
    ///
    /// A response that took longer than the jitter may be that much too late for its moment, so the request is reserved
    /// again.
    ///
    /// - Parameters:
    ///   - cost: the cost of the request.
    ///   - key: its partition.
    ///   - clock: the clock of the call.
    ///   - log: gets a line when the store becomes unavailable.
    ///   - patience: returns how much longer the request may wait; `nil` if that is not limited.
    /// - Returns: how long to wait before the request is sent; `nil` if the store is unavailable.
    /// - Throws: a ``PermitRefusal`` if that is too long, and `CancellationError`.
    func reserve(
        _ cost: Int,
        of key: TrafficKey,
        on clock: PipelineClock,
        _ log: PipelineContext.OperatorLog,
        patience: () -> Duration?
    ) async throws -> Duration? {
        let name = name(of: key)
        var delay = Duration.zero
        for _ in 1...Self.maximumReservationCount {
            let (start, patience) = (clock.now, patience())
            guard start >= state.withLock({ $0.pauseEnd }) ?? start else { return nil }
            let wait: Duration
            switch try await reserve(cost, name, within: patience, on: clock) {
            case .success(let reserved): wait = reserved
            case .failure(let error):
                note(error, at: clock.now, log)
                return nil
            }
            state.withLock { $0.failure = nil }
            if let patience, wait > patience { throw PermitRefusal(reason: .tooLate, wait: wait) }
            delay = wait
            if start.duration(to: clock.now) <= max(limit.jitter, Self.shortRoundTrip) { break }
        }
        return delay
    }

    /// Notes that the store is unavailable, and says so if it was not before.
    private func note(_ error: any Error, at now: PipelineClock.Instant, _ log: PipelineContext.OperatorLog) {
        let text = (error as? any SafelyDescribed)?.description ?? "\(type(of: error))"
        let isNew = state.withLock { state in
            defer { (state.pauseEnd, state.failure) = (now.advanced(by: Self.pause), text) }
            return state.failure == nil
        }
        onFailure?(error)
        guard isNew else { return }
        log.warning(
            "the store of a RateLimitPlugin is unavailable, so processes no longer share the limit: \(text)"
        )
    }

    /// Returns what the store responds, or why it does not.
    private func reserve(
        _ cost: Int,
        _ name: String,
        within patience: Duration?,
        on clock: PipelineClock
    ) async throws -> Result<Duration, any Error> {
        let result: Result<Duration, any Error>
        do {
            let late = PipelineError(.timeout(.queue), "the store took longer than 250 ms")
            let reserved = try await clock.run(until: clock.now.advanced(by: Self.timeout), throwing: late) {
                [store, limit] in
                try await store.reserve(
                    cost,
                    of: name,
                    interval: limit.sharedInterval,
                    burst: limit.burst,
                    within: patience
                )
            }
            result = .success(reserved)
        } catch {
            result = .failure(error)
        }
        try Task.checkCancellation()
        return result
    }

    /// Returns the name of the limit of a partition in the store, which contains no secrets.
    private func name(of key: TrafficKey) -> String {
        let partition = key.shownName ?? SHA256.hash(Array(key.text.utf8)).map { String(format: "%02x", $0) }.joined()
        return "\(partition) \(limit.count)/\(limit.period.attoseconds / 1_000_000_000)/\(limit.burst)"
    }
}
