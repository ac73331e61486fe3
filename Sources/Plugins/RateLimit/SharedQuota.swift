import Foundation
import Pipeline
import PipelineHashes
import PipelineStores
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
    private let pauseEnd = Mutex<PipelineClock.Instant?>(nil)

    init(_ store: any RateLimitStore, _ limit: RateLimit) {
        self.store = store
        self.limit = limit
    }

    /// Reserves a request.
    ///
    /// A response that took longer than the jitter may be that much too late for its moment, so the request is reserved
    /// again.
    ///
    /// - Parameters:
    ///   - cost: the cost of the request.
    ///   - key: its partition.
    ///   - clock: the clock of the call.
    ///   - patience: returns how much longer the request may wait; `nil` if that is not limited.
    /// - Returns: how long to wait before the request is sent; zero if the store is unavailable.
    /// - Throws: a ``TurnstileRefusal`` if that is too long, and `CancellationError`.
    func reserve(
        _ cost: Int,
        of key: TrafficKey,
        on clock: PipelineClock,
        patience: () -> Duration?
    ) async throws -> Duration {
        let name = name(of: key)
        var delay = Duration.zero
        for _ in 1...Self.maximumReservationCount {
            let (start, patience) = (clock.now, patience())
            guard start >= pauseEnd.withLock({ $0 }) ?? start else { return .zero }
            guard let wait = try await wait(cost, name, within: patience, on: clock) else {
                let end = clock.now.advanced(by: Self.pause)
                pauseEnd.withLock { $0 = end }
                return .zero
            }
            if let patience, wait > patience { throw TurnstileRefusal(reason: .tooLate, wait: wait) }
            delay = wait
            if start.duration(to: clock.now) <= max(limit.jitter, Self.shortRoundTrip) { break }
        }
        return delay
    }

    /// Returns what the store responds; `nil` if it fails or takes too long.
    private func wait(
        _ cost: Int,
        _ name: String,
        within patience: Duration?,
        on clock: PipelineClock
    ) async throws -> Duration? {
        let wait = await withTaskGroup(of: Duration?.self) { [store, limit] group in
            group.addTask {
                try? await store.reserve(
                    cost,
                    of: name,
                    interval: limit.sharedInterval,
                    burst: limit.burst,
                    within: patience
                )
            }
            group.addTask {
                try? await clock.sleep(for: Self.timeout)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        try Task.checkCancellation()
        return wait
    }

    /// Returns the name of the limit of a partition in the store, which contains no secrets.
    private func name(of key: TrafficKey) -> String {
        let partition = key.shownName ?? SHA256.hash(Array(key.text.utf8)).map { String(format: "%02x", $0) }.joined()
        return "\(partition) \(limit.count)/\(limit.period.nanoseconds)/\(limit.burst)"
    }
}
