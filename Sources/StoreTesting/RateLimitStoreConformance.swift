public import PipelineResilience
public import PipelineTesting

/// A conformance suite that checks the rules for every rate limit store.
///
/// ```swift
/// @Test("MyRateLimitStore does what every rate limit store has to do", .timeLimit(.minutes(1)))
/// func conformance() async {
///     let violations = await RateLimitStoreConformance { MyRateLimitStore() }.run()
///     #expect(violations.isEmpty, "\(violations)")
/// }
/// ```
///
/// | check | rule |
/// |---|---|
/// | `spacing` | the first request may be sent at once, and each further one an interval after the one before |
/// | `costs` | after a request that costs 3, the next one waits for 3 intervals; a cost above the burst waits longer |
/// | `burst` | after a pause, as many requests as the burst may be sent at once |
/// | `refusal` | a wait that is too long is returned, but nothing is reserved |
/// | `keys` | limits with different keys do not affect each other |
/// | `concurrency` | of 50 concurrent reservations, no two are less than an interval apart |
/// | `cancellation` | after reservations in cancelled tasks, the store stays usable |
///
/// **Effects**: each check gets a new store, and uses intervals of 10 s without waiting for them. A store that blocks
/// forever blocks the suite.
public struct RateLimitStoreConformance: Sendable {
    private typealias Check = @Sendable (any RateLimitStore) async throws -> [String]

    private static let interval: Duration = .seconds(10)

    private let makeStore: @Sendable () async throws -> any RateLimitStore

    /// Creates a suite for a store.
    ///
    /// - Parameter makeStore: returns a new store without reservations for each check.
    public init(makeStore: @escaping @Sendable () async throws -> any RateLimitStore) {
        self.makeStore = makeStore
    }

    /// Runs all checks, one after another.
    ///
    /// - Returns: the violations; empty for a store that conforms. An error that the store or `makeStore` throws is a
    ///   violation.
    public func run() async -> [ConformanceViolation] {
        let checks: [(name: String, run: Check)] = [
            ("spacing", Self.spacing), ("costs", Self.costs), ("burst", Self.burst), ("refusal", Self.refusal),
            ("keys", Self.keys), ("concurrency", Self.concurrency), ("cancellation", Self.cancellation),
        ]
        return await ConformanceViolation.found(by: checks, makeStore)
    }

    private static func reserve(
        _ store: any RateLimitStore,
        _ cost: Int = 1,
        of key: String = "a",
        burst: Int = 1,
        within maximum: Duration? = nil
    ) async throws -> Duration {
        try await store.reserve(cost, of: key, interval: interval, burst: burst, within: maximum)
    }

    /// Reserves in turn, and returns violations if the waits are not the given numbers of intervals.
    private static func require(
        _ waits: [Int],
        _ reservations: [@Sendable () async throws -> Duration]
    ) async throws -> [String] {
        let start = ContinuousClock.now
        var found: [String] = []
        for (index, (wait, reserve)) in zip(waits, reservations).enumerated() {
            let actual = try await reserve()
            // The waits become shorter by the time that has passed since the first reservation.
            let passed = ContinuousClock.now - start
            let expected = max(.zero, interval * wait - passed - .milliseconds(2))...(interval * wait)
            if !expected.contains(actual) {
                found.append("request \(index + 1) waits for \(actual), not for \(interval * wait)")
            }
        }
        return found
    }

    // MARK: Checks

    private static let spacing: Check = { store in
        try await require([0, 1, 2, 3], Array(repeating: { try await reserve(store) }, count: 4))
    }

    private static let costs: Check = { store in
        try await require(
            [0, 3, 6],
            [{ try await reserve(store, 3) }, { try await reserve(store) }, { try await reserve(store, 3) }]
        )
    }

    private static let burst: Check = { store in
        try await require([0, 0, 0, 1, 2], Array(repeating: { try await reserve(store, burst: 3) }, count: 5))
    }

    private static let refusal: Check = { store in
        try await require(
            [0, 1, 1, 2],
            [
                { try await reserve(store) }, { try await reserve(store, within: .seconds(1)) },
                { try await reserve(store, within: interval) }, { try await reserve(store) },
            ]
        )
    }

    private static let keys: Check = { store in
        try await require(
            [0, 0, 1],
            [{ try await reserve(store) }, { try await reserve(store, of: "b") }, { try await reserve(store) }]
        )
    }

    private static let concurrency: Check = { store in
        let moments = try await concurrently(50) { _ in ContinuousClock.now + (try await reserve(store)) }.sorted()
        // Tasks may read the clock up to half an interval before the store does.
        let close = zip(moments, moments.dropFirst()).count { $1 - $0 < interval / 2 }
        return close == 0 ? [] : ["of 50 concurrent reservations, \(close) are less than an interval apart"]
    }

    private static let cancellation: Check = { store in
        _ = await inCancelledTasks(20) { _ in try await reserve(store) }
        let wait = try await reserve(store)
        return wait <= interval * 20 ? [] : ["after 20 cancelled reservations, a request waits for \(wait)"]
    }
}
