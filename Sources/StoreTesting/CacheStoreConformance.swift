public import PipelineCaching
public import PipelineTesting

/// A conformance suite that checks the rules for every cache store.
///
/// ```swift
/// @Test("MyCacheStore does what every cache store has to do", .timeLimit(.minutes(1)))
/// func conformance() async {
///     let violations = await CacheStoreConformance { MyCacheStore() }.run()
///     #expect(violations.isEmpty, "\(violations)")
/// }
/// ```
///
/// | check | rule |
/// |---|---|
/// | `empty` | an unknown key has no entries; an unknown entry has no body, and removing it is harmless |
/// | `secret` | the secret has 32 bytes and stays the same, also if 20 callers request it at once |
/// | `fields` | all properties of an entry are read back: repeated fields in order, values as bytes, dates to 1 ms |
/// | `pieces` | a body is read back at all offsets and in pieces of any size; at its end, reading returns no bytes |
/// | `largeBody` | a body of 3 MiB that was written in chunks of odd sizes is read back |
/// | `visibility` | an entry is visible only after `finish` |
/// | `discard` | a discarded or released writer leaves nothing, and a former entry of its variant stays |
/// | `replaced` | an entry replaces that of its variant, whose body, update and removal then have no effect |
/// | `order` | entries are returned by `responseDate`, the latest first |
/// | `variants` | a key keeps 16 variants; one more removes that with the earliest `responseDate` |
/// | `keys` | keys that differ in resource, account or content have different entries |
/// | `update` | an update replaces all but the body, and an entry that has the new variant; it creates no entry |
/// | `remove` | an entry, a resource of all accounts, an account or everything is removed, and nothing else |
/// | `generation` | an entry is refused if its resource, its account or everything was removed since the lookup |
/// | `reader` | an open body stays readable when its entry is replaced or removed |
/// | `writers` | two writers of one variant do not mix their bytes; the last one that finishes wins |
/// | `concurrency` | 100 concurrent tasks that write and read lose nothing, and get no bytes of another entry |
/// | `lock` | a lock has one holder, and only its token releases it |
/// | `lockExpiry` | a lock expires after its duration; only for ``LockClock/caller`` |
/// | `cancellation` | calls in cancelled tasks leave no incomplete entry, and the store stays usable |
///
/// The check `generation` is skipped if ``/PipelineCaching/CacheStore/lookUp(_:)`` returns no generation.
///
/// **Effects**: each check gets a new store. A store that blocks forever blocks the suite.
public struct CacheStoreConformance: Sendable {
    /// The clock that decides when a lock expires.
    public struct LockClock: Sendable, Hashable {
        private let name: String

        /// The dates that callers pass, as in a store of one process or machine.
        public static let caller = LockClock(name: "caller")
        /// A clock of the store, as in a store that several machines share.
        public static let store = LockClock(name: "store")
    }

    typealias Check = @Sendable (any CacheStore) async throws -> [String]

    private let lockClock: LockClock
    private let makeStore: @Sendable () async throws -> any CacheStore

    /// Creates a suite for a store.
    ///
    /// - Parameters:
    ///   - lockClock: the clock that decides when a lock expires; the dates of callers by default.
    ///   - makeStore: returns a new store for each check: without entries, with room for 16 MiB, and for bodies of
    ///     3 MiB.
    public init(lockClock: LockClock = .caller, makeStore: @escaping @Sendable () async throws -> any CacheStore) {
        self.lockClock = lockClock
        self.makeStore = makeStore
    }

    /// Runs all checks, one after another.
    ///
    /// - Returns: the violations; empty for a store that conforms. An error that the store or `makeStore` throws is a
    ///   violation.
    public func run() async -> [ConformanceViolation] {
        var checks: [(name: String, run: Check)] = [
            ("empty", Self.empty), ("secret", Self.secret), ("fields", Self.fields), ("pieces", Self.pieces),
            ("largeBody", Self.largeBody), ("visibility", Self.visibility), ("discard", Self.discard),
            ("replaced", Self.replaced), ("order", Self.order), ("variants", Self.variants), ("keys", Self.keys),
            ("update", Self.update), ("remove", Self.remove), ("generation", Self.generation),
            ("reader", Self.reader), ("writers", Self.writers), ("concurrency", Self.concurrency), ("lock", Self.lock),
            ("cancellation", Self.cancellation),
        ]
        if lockClock == .caller { checks.append(("lockExpiry", Self.lockExpiry)) }
        return await ConformanceViolation.found(by: checks, makeStore)
    }
}
