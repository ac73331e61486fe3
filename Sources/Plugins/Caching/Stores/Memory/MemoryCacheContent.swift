import Foundation

/// The responses of a ``MemoryCacheStore``, and the order in which they are removed.
///
/// A new response is on probation. Its first use makes it protected; protected responses use up to 80 % of the bound,
/// and the one that was not used for the longest time goes back on probation.
struct MemoryCacheContent {
    private static let maximumVariants = 16

    private let maximumByteCount: Int
    private var keys = MemoryCacheTable<CacheKey, [MemoryCacheResponse]>()
    private var resources = MemoryCacheTable<String, MemoryCacheLink>()
    private var accounts = MemoryCacheTable<String, MemoryCacheLink>()
    private var probation = MemoryCacheQueue()
    private var protected = MemoryCacheQueue()
    private var reservedByteCount = 0
    /// The locks of keys.
    var locks = MemoryCacheLocks()
    /// The latest removals.
    private var changes = ChangeLog<Scope>()

    private enum Scope: Hashable {
        case resource(String)
        case account(String)
    }

    init(maximumByteCount: Int) { self.maximumByteCount = maximumByteCount }

    /// The number of responses.
    var count: Int { probation.count + protected.count }

    /// The number of bytes of all responses, of the tables, and of bodies that are being written.
    var byteCount: Int {
        probation.byteCount + protected.byteCount + reservedByteCount
            + keys.byteCount + resources.byteCount + accounts.byteCount
    }

    // MARK: Reading

    func entries(for key: CacheKey) -> [CacheEntry] { keys[key]?.map { $0.entry } ?? [] }

    /// Returns the body of an entry, which counts as a use.
    mutating func use(_ entry: CacheEntry) -> Data? {
        guard let response = response(of: entry) else { return nil }
        use(response)
        return response.body
    }

    private func response(of entry: CacheEntry) -> MemoryCacheResponse? {
        keys[entry.key]?.first { $0.entry.id == entry.id }
    }

    private mutating func use(_ response: MemoryCacheResponse) {
        if response.isProtected {
            protected.moveToFront(response)
            return
        }
        probation.remove(response)
        response.isProtected = true
        protected.insert(response)
        while protected.byteCount > maximumByteCount / 5 * 4, let oldest = protected.oldest, oldest !== response {
            protected.remove(oldest)
            oldest.isProtected = false
            probation.insert(oldest)
        }
    }

    // MARK: Generations

    /// The number of removals so far, as bytes.
    var generation: Data { withUnsafeBytes(of: changes.count) { Data($0) } }

    /// Returns whether a key was affected by a removal since a generation.
    func isChanged(_ key: CacheKey, since generation: Data) -> Bool {
        guard generation.count == MemoryLayout<Int>.size else { return true }
        let start = generation.withUnsafeBytes { $0.loadUnaligned(as: Int.self) }
        return !changes.isCurrent(.resource(key.resource), since: start)
            || !changes.isCurrent(.account(key.account), since: start)
    }

    // MARK: Writing

    /// Counts bytes of a body that is being written; returns `false` if such bodies would use half of the bound.
    ///
    /// Expected bytes must have room, but are not counted.
    mutating func reserve(_ byteCount: Int, expecting expected: Int = 0) -> Bool {
        let limit = maximumByteCount / 2 - reservedByteCount
        guard byteCount <= limit, expected <= limit - byteCount, makeRoom(for: { _ in byteCount }) else { return false }
        reservedByteCount += byteCount
        return true
    }

    mutating func release(_ byteCount: Int) { reservedByteCount -= byteCount }

    /// Stores a response; returns `false` if there is no room for it.
    mutating func insert(_ entry: CacheEntry, _ body: Data) -> Bool {
        remove(keys[entry.key]?.first { $0.entry.variant == entry.variant })
        let response = MemoryCacheResponse(entry, body)
        guard
            makeRoom(for: { content in
                response.byteCount + content.keys.growthByteCount + content.resources.growthByteCount
                    + content.accounts.growthByteCount
            })
        else { return false }
        probation.insert(response)
        resources.head(of: entry.key.resource).insert(response.resourceLink)
        accounts.head(of: entry.key.account).insert(response.accountLink)
        place(response, among: keys[entry.key] ?? [])
        return true
    }

    /// Replaces all of an entry but its body; counts as a use.
    mutating func update(_ entry: CacheEntry) {
        guard let response = response(of: entry) else { return }
        remove(keys[entry.key]?.first { $0.entry.variant == entry.variant && $0 !== response })
        use(response)
        let former = response.byteCount
        response.update(entry)
        protected.byteCount += response.byteCount - former
        place(response, among: (keys[entry.key] ?? []).filter { $0 !== response })
        _ = makeRoom(for: { _ in 0 })
    }

    /// Puts a response before those of its key that are not later, and removes the earliest one of more than 16.
    private mutating func place(_ response: MemoryCacheResponse, among others: [MemoryCacheResponse]) {
        let index = others.firstIndex { $0.entry.responseDate <= response.entry.responseDate } ?? others.count
        keys[response.entry.key] = others[..<index] + [response] + others[index...]
        if others.count >= Self.maximumVariants { remove(keys[response.entry.key]?.last) }
    }

    // MARK: Removing

    mutating func remove(_ entry: CacheEntry) { remove(response(of: entry)) }

    mutating func remove(resource: String) {
        changes.add(.resource(resource))
        while let response = resources[resource]?.oldest { remove(response) }
    }

    mutating func remove(account: String?) {
        if let account {
            changes.add(.account(account))
            while let response = accounts[account]?.oldest { remove(response) }
        } else {
            changes.addAll()
            while let response = probation.oldest ?? protected.oldest { remove(response) }
        }
    }

    /// Removes the least useful responses until there is room for more bytes; returns `false` if there never is.
    private mutating func makeRoom(for needed: (borrowing MemoryCacheContent) -> Int) -> Bool {
        while byteCount > maximumByteCount - needed(self) {
            guard let response = probation.oldest ?? protected.oldest else { return false }
            remove(response)
        }
        return true
    }

    private mutating func remove(_ response: MemoryCacheResponse?) {
        guard let response else { return }
        let key = response.entry.key
        if response.isProtected { protected.remove(response) } else { probation.remove(response) }
        response.resourceLink.unlink()
        if resources[key.resource]?.isEmpty == true { resources[key.resource] = nil }
        response.accountLink.unlink()
        if accounts[key.account]?.isEmpty == true { accounts[key.account] = nil }
        let others = keys[key]?.filter { $0 !== response } ?? []
        keys[key] = others.isEmpty ? nil : others
    }
}

/// The locks of keys, a bounded number of them.
struct MemoryCacheLocks {
    private static let maximumCount = 1_024

    private struct Lock {
        let token: UUID
        let expiry: Date
    }

    private var locks: [CacheKey: Lock] = [:]

    /// Takes a lock; returns `nil` if another caller has it at `now`.
    mutating func lock(_ key: CacheKey, for duration: Duration, at now: Date) -> UUID? {
        if let lock = locks[key], lock.expiry > now { return nil }
        if locks[key] == nil, locks.count >= Self.maximumCount,
            let first = locks.min(by: { $0.value.expiry < $1.value.expiry })
        {
            locks[first.key] = nil
        }
        let lock = Lock(token: UUID(), expiry: now + duration / .seconds(1))
        locks[key] = lock
        return lock.token
    }

    mutating func unlock(_ key: CacheKey, _ token: UUID) {
        if locks[key]?.token == token { locks[key] = nil }
    }
}
