import Foundation
import PipelineCaching
import PipelineTesting

extension CacheStoreConformance {
    static let pieces: Check = { store in
        let entry = try await put(entry(), 5_000, in: store, piece: 7)
        guard let body = try await store.body(of: entry) else { return ["an entry has no body"] }
        let expected = bytes(of: entry, 5_000)
        var found: [String] = []
        for (offset, count) in [(0, 1), (0, 5_000), (4_999, 1), (17, 300), (4_096, 9_000), (1, 100_000)] {
            let piece = try await body.read(at: offset, upTo: count)
            guard (1...count).contains(piece.count), expected[offset...].starts(with: piece) else {
                found.append("reading up to \(count) bytes at \(offset) of 5000 returns \(piece.count) wrong bytes")
                continue
            }
        }
        for piece in [1, 64, 4_999, 5_000, 5_001] where try await read(body, 5_000, piece: piece) != expected {
            found.append("reading in pieces of \(piece) bytes does not return the body of 5000 bytes")
        }
        if try await !body.read(at: 5_000, upTo: 1).isEmpty { found.append("there are bytes after the end of a body") }
        return found
    }

    static let largeBody: Check = { store in
        let count = 3 * 1_048_576
        let written = entry()
        let expected = bytes(of: written, count)
        guard let writer = try await store.write(written, byteCount: nil) else { throw Violation.noRoom }
        var offset = 0
        for size in [1, 8_191, 16_385, 65_537, 1_000_003, 3, 99_991, count] {
            let end = min(offset + size, count)
            try await writer.append(expected[offset..<end])
            offset = end
        }
        let entry = try await writer.finish(totalByteCount: count)
        guard entry.byteCount == count else { return ["a body of \(count) bytes has \(entry.byteCount)"] }
        let found = try await read(store.body(of: entry), count, piece: 65_537)
        return found == expected ? [] : ["a body of 3 MiB was not read back"]
    }

    static let visibility: Check = { store in
        let former = try await put(entry(key, "a", age: 1), in: store)
        var found: [String] = []
        for variant in ["a", "b"] {
            let written = entry(key, variant)
            guard let writer = try await store.write(written, byteCount: 100) else { throw Violation.noRoom }
            found += try await require([former], in: store, "after a writer was created")
            try await writer.append(bytes(of: written, 100))
            found += try await require([former], in: store, "before a writer has finished")
            if try await store.body(of: written) != nil { found.append("an unfinished entry has a body") }
            let finished = try await writer.finish(totalByteCount: 100)
            found += try await require(variant == "a" ? [finished] : [finished, former], in: store, "after finish")
            try await store.remove(account: nil)
            if variant == "a" { try await put(former, in: store) }
        }
        return found
    }

    static let discard: Check = { store in
        let former = try await put(entry(key, "a"), in: store)
        var found: [String] = []
        for variant in ["a", "b"] {
            for isReleased in [false, true] {
                let written = entry(key, variant)
                var writer = try await store.write(written, byteCount: 100)
                guard writer != nil else { throw Violation.noRoom }
                try await writer?.append(bytes(of: written, 50))
                if !isReleased { await writer?.discard() }
                writer = nil
                let when = isReleased ? "after a writer was released" : "after a writer was discarded"
                found += try await require([former], in: store, when)
                if try await store.body(of: written) != nil { found.append("\(when), its entry has a body") }
            }
        }
        return found
    }

    static let reader: Check = { store in
        let count = 300_000
        let removals: [(name: String, remove: @Sendable (CacheEntry) async throws -> Void)] = [
            ("replaced", { _ in try await put(entry(), count, in: store) }),
            ("removed", { try await store.remove($0) }),
            ("removed with everything", { _ in try await store.remove(account: nil) }),
        ]
        var found: [String] = []
        for removal in removals {
            let entry = try await put(entry(), count, in: store)
            let body = try await store.body(of: entry)
            _ = try await body?.read(at: 0, upTo: 1)
            try await removal.remove(entry)
            if try await read(body, count) != bytes(of: entry, count) {
                found.append("an open body is not readable after its entry was \(removal.name)")
            }
        }
        return found
    }

    static let writers: Check = { store in
        let (first, second) = (entry(key, "v"), entry(key, "v", age: 1))
        guard let one = try await store.write(first, byteCount: 6_000),
            let two = try await store.write(second, byteCount: nil)
        else { throw Violation.noRoom }
        let (ones, twos) = (bytes(of: first, 6_000), bytes(of: second, 9_000))
        for part in 0..<3 {
            try await one.append(ones[part * 2_000..<part * 2_000 + 2_000])
            try await two.append(twos[part * 3_000..<part * 3_000 + 3_000])
        }
        let former = try await one.finish(totalByteCount: 6_000)
        let found = try await require([former], in: store, "after one of two writers has finished")
        let latter = try await two.finish(totalByteCount: 9_000)
        return try await found + require([latter], in: store, "after both of two writers have finished")
    }
}
