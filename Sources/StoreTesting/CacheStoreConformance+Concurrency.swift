import Foundation
import PipelineCaching
import PipelineTesting

extension CacheStoreConformance {
    static let concurrency: Check = { store in
        let keys = (0..<10).map { CacheKey(resource: "r\($0)", account: "a") }
        let areRight = try await concurrently(100) { index in
            // Each task replaces its own variant twice, while others read all variants of the key.
            for round in 1...3 {
                let count = (index * 211 + round * 97) % 9_000
                try await put(entry(keys[index % 10], "\(index / 10)"), count, in: store)
            }
            for entry in try await store.entries(for: keys[(index + 1) % 10]) {
                guard let body = try await store.body(of: entry) else { continue }
                if try await read(body, entry.byteCount) != bytes(of: entry, entry.byteCount) { return false }
            }
            return true
        }
        var count = 0
        for key in keys { count += try await store.entries(for: key).count }
        let wrong = areRight.contains(false) ? ["while 100 tasks write and read, an entry has a wrong body"] : []
        return wrong + (count == 100 ? [] : ["after 100 tasks stored a variant each, there are \(count)"])
    }

    static let generation: Check = { store in
        guard try await store.lookUp(key).generation != nil else { return [] }
        typealias Removal = (name: String, isOfKey: Bool, remove: @Sendable () async throws -> Void)
        let removals: [Removal] = [
            ("nothing", false, {}),
            ("its resource", true, { try await store.remove(resource: key.resource) }),
            ("its account", true, { try await store.remove(account: key.account) }),
            ("everything", true, { try await store.remove(account: nil) }),
        ]
        var found: [String] = []
        for removal in removals {
            // Twice, because a removal also counts if there was nothing to remove.
            for _ in 1...2 {
                let generation = try await store.lookUp(key).generation
                let entry = entry()
                guard let writer = try await store.write(entry, byteCount: 10) else { throw Violation.noRoom }
                try await writer.append(bytes(of: entry, 10))
                try await removal.remove()
                let stored = try await writer.finish(totalByteCount: 10, ifUnchangedSince: generation)
                if (stored == nil) != removal.isOfKey {
                    let result = stored == nil ? "refused" : "stored"
                    found.append("an entry is \(result) after \(removal.name) was removed")
                }
                let visible = try await store.lookUp(key).entries
                let entries = try await store.entries(for: key)
                if visible != entries { found.append("lookUp returns other entries than entries(for:)") }
                if entries.map(\.id) != (stored.map { [$0.id] } ?? []) {
                    found.append("the entries after \(removal.name) was removed do not match the result of the writer")
                }
            }
        }
        let entry = entry()
        guard let writer = try await store.write(entry, byteCount: 0) else { throw Violation.noRoom }
        if try await writer.finish(totalByteCount: 0, ifUnchangedSince: nil)?.id != entry.id {
            found.append("an entry without a generation is refused")
        }
        return found
    }

    static let lock: Check = { store in
        let now = Date.now
        let other = CacheKey(resource: key.resource, account: "other")
        let tokens = try await concurrently(100) { _ in try await store.lock(key, for: .seconds(60), at: now) }
            .compactMap(\.self)
        guard tokens.count == 1 else { return ["of 100 concurrent callers, \(tokens.count) have the lock, not 1"] }
        var found: [String] = []
        if try await store.lock(other, for: .seconds(60), at: now) == nil { found.append("a lock affects another key") }
        try await store.unlock(key, UUID())
        try await store.unlock(other, tokens[0])
        if try await store.lock(key, for: .seconds(60), at: now) != nil {
            found.append("another token or another key releases a lock")
        }
        try await store.unlock(key, tokens[0])
        let next = try await store.lock(key, for: .seconds(60), at: now)
        if next == nil { found.append("a released lock cannot be taken") }
        if next == tokens[0] { found.append("two holders of a lock have the same token") }
        return found
    }

    static let lockExpiry: Check = { store in
        let first = try await store.lock(key, for: .milliseconds(1_500), at: date)
        var found: [String] = []
        if try await store.lock(key, for: .seconds(9), at: date + 1.4) != nil {
            found.append("a lock of 1.5 s expires within 1.4 s")
        }
        guard let first, let second = try await store.lock(key, for: .seconds(9), at: date + 1.6) else {
            return found + ["a lock of 1.5 s has not expired after 1.6 s"]
        }
        try await store.unlock(key, first)
        if try await store.lock(key, for: .seconds(9), at: date + 1.7) != nil {
            found.append("the token of an expired lock releases that of the next holder")
        }
        try await store.unlock(key, second)
        return found
    }

    static let cancellation: Check = { store in
        let key = key
        let finished = await inCancelledTasks(16) { index in
            try await put(entry(key, "\(index)", age: Double(index)), 20_000, in: store)
        }
        let found = try await store.entries(for: key)
        let lost = Set(finished.map(\.id)).subtracting(found.map(\.id)).count
        var violations = lost == 0 ? [] : ["\(lost) entries that were finished in cancelled tasks are missing"]
        if found.contains(where: { $0.byteCount != 20_000 }) { violations.append("a cancelled task stores a part") }
        violations += try await require(found, in: store, "after calls in cancelled tasks")
        let other = CacheKey(resource: "other", account: "account")
        let last = try await put(entry(other), in: store)
        return try await violations + require([last], in: store, for: other, "after calls in cancelled tasks")
    }
}
