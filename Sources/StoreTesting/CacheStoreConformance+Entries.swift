import Foundation
import HTTPTypes
import PipelineCaching
import PipelineTesting

extension CacheStoreConformance {
    static let empty: Check = { store in
        let unknown = entry()
        var found = try await require([], in: store, "in a new store")
        for _ in 1...2 {
            if try await store.body(of: unknown) != nil { found.append("an unknown entry has a body") }
            try await store.remove(unknown)
            try await store.remove(resource: unknown.key.resource)
            try await store.remove(account: unknown.key.account)
            try await store.remove(account: nil)
            try await store.unlock(key, UUID())
            try await put(entry(CacheKey(resource: "other", account: "other")), in: store)
        }
        return try await found + require([], in: store, "after another key was stored")
    }

    static let secret: Check = { store in
        let secrets = try await concurrently(20) { _ in try await store.secret() }
        try await put(entry(), in: store)
        let last = try await store.secret()
        var found = Set(secrets + [last]).count == 1 ? [] : ["the secret changes"]
        if last.count != 32 { found.append("the secret has \(last.count) bytes, not 32") }
        if Set(last).count < 8 { found.append("the secret is not random") }
        return found
    }

    static let fields: Check = { store in
        var headers = HTTPFields()
        headers.append(HTTPField(name: .cacheControl, value: "max-age=1"))
        headers.append(HTTPField(name: .contentType, value: #"text/plain; a="b\\\"c""#))
        headers.append(HTTPField(name: .cacheControl, value: "public"))
        headers.append(HTTPField(name: .contentLanguage, value: ""))
        headers.append(HTTPField(name: .contentDisposition, value: "é日\u{1F600}\t."))
        headers.append(HTTPField(name: .contentLocation, value: [0x61, 0xE9, 0xFF, 0x80, 0x62]))
        headers.append(HTTPField(name: .vary, value: String(repeating: "x", count: 8_000)))
        let hash = String(repeating: "h", count: 63)
        var found: [String] = []
        for (index, total) in [10, nil, 0, 1_000].enumerated() {
            let account = index == 0 ? "" : hash
            let key = CacheKey(resource: "\(index)\(hash)", account: account, content: index == 1 ? hash : "")
            var written = entry(key, index == 2 ? hash : "", age: Double(index) / 8)
            written.statusCode = [200, 404, 599, 206][index]
            written.headers = index == 2 ? [:] : headers
            written.firstByte = index == 3 ? 700 : 0
            written.byteCount = 99
            written.totalByteCount = 98
            guard let writer = try await store.write(written, byteCount: nil) else { throw Violation.noRoom }
            let body = bytes(of: written, total == 0 ? 0 : 10)
            if !body.isEmpty { try await writer.append(body) }
            let finished = try await writer.finish(totalByteCount: total)
            written.byteCount = body.count
            written.totalByteCount = total
            let read = try await store.entries(for: key)
            guard read.count == 1 else { return ["of 1 entry, \(read.count) were read back"] }
            found += differences(written, finished).map { "the entry of finish has another \($0)" }
            found += differences(written, read[0]).map { "the property \($0) was not read back" }
            found += try await require([written], in: store, for: key, "with all properties")
        }
        return found
    }

    static func differences(_ written: CacheEntry, _ read: CacheEntry) -> [String] {
        properties.filter { !$0.isSame(written, read) }.map(\.name)
    }

    static let properties: [(name: String, isSame: @Sendable (CacheEntry, CacheEntry) -> Bool)] = [
        ("id", { $0.id == $1.id }),
        ("key", { $0.key == $1.key }),
        ("variant", { $0.variant == $1.variant }),
        ("statusCode", { $0.statusCode == $1.statusCode }),
        ("headers", { $0.headers.elementsEqual($1.headers) { $0.name == $1.name && octets($0) == octets($1) } }),
        // Half of a millisecond by rounding, a whole one by truncation.
        ("requestDate", { abs($0.requestDate.timeIntervalSince($1.requestDate)) < 0.001_1 }),
        ("responseDate", { abs($0.responseDate.timeIntervalSince($1.responseDate)) < 0.001_1 }),
        ("firstByte", { $0.firstByte == $1.firstByte }),
        ("byteCount", { $0.byteCount == $1.byteCount }),
        ("totalByteCount", { $0.totalByteCount == $1.totalByteCount }),
    ]

    static func octets(_ field: HTTPField) -> [UInt8] { field.withUnsafeBytesOfValue { [UInt8]($0) } }

    static let replaced: Check = { store in
        let other = try await put(entry(key, "other", age: 9), in: store)
        var old = try await put(entry(key, "same", age: 1), 20, in: store)
        let new = try await put(entry(key, "same", age: 2), 30, in: store)
        var found = try await require([new, other], in: store, "after a variant was replaced by an older response")
        if let body = try await store.body(of: old), try await read(body, 20) != bytes(of: old, 20) {
            found.append("the body of a replaced entry has the bytes of another one")
        }
        old.responseDate = date + 9
        try await store.update(old)
        try await store.remove(old)
        return try await found + require([new, other], in: store, "after a replaced entry was updated and removed")
    }

    static let order: Check = { store in
        var written: [CacheEntry] = []
        for age in [3.0, 0.25, 7, 1, 0.5] { written.append(try await put(entry(key, "\(age)", age: age), in: store)) }
        return try await require(written.sorted { $0.responseDate > $1.responseDate }, in: store, "after five writes")
    }

    static let variants: Check = { store in
        var written: [CacheEntry] = []
        for index in 0..<17 {
            // The ages are 0 to 16; the entry that is to be removed is one in the middle.
            let age = Double((index * 7 + 4) % 17)
            written.append(try await put(entry(key, "\(age)", age: age), in: store))
        }
        written.sort { $0.responseDate > $1.responseDate }
        return try await require(written.dropLast(), in: store, "after 17 variants were stored")
    }

    static let keys: Check = { store in
        let parts = [
            ("r", "a", ""), ("r", "a", "c"), ("r", "b", ""), ("s", "a", ""), ("R", "a", ""), ("r", "A", ""),
            ("ra", "", ""), ("", "ra", ""), ("r", "", "a"), ("r", "ac", ""),
        ]
        var written: [CacheEntry] = []
        for (resource, account, content) in parts {
            let key = CacheKey(resource: resource, account: account, content: content)
            written.append(try await put(entry(key), in: store))
        }
        var found: [String] = []
        for entry in written { found += try await require([entry], in: store, for: entry.key, "among 10 keys") }
        return found
    }

    static let update: Check = { store in
        let other = try await put(entry(key, "other", age: 1), in: store)
        var changed = try await put(entry(key, "before", age: 2), 3_000, in: store)
        let stored = changed
        changed.variant = "after"
        changed.statusCode = 203
        changed.headers = [.eTag: "\"2\"", .age: "3"]
        changed.requestDate = date + 5.5
        changed.responseDate = date + 6.25
        changed.totalByteCount = 4_000
        try await store.update(changed)
        var found = try await require([changed, other], in: store, "after an update")
        if let first = try await store.entries(for: key).first {
            found += differences(changed, first).map { "the property \($0) was not updated" }
        }
        var wrong = changed
        wrong.byteCount = 1
        try await store.update(wrong)
        if try await store.entries(for: key).first?.byteCount != stored.byteCount {
            found.append("an update changes the number of stored bytes")
        }
        try await store.remove(changed)
        try await store.update(changed)
        found += try await require([other], in: store, "after an update of an entry that is gone")
        var last = try await put(entry(key, "last"), in: store)
        last.variant = other.variant
        try await store.update(last)
        return try await found + require([last], in: store, "after an update to the variant of another entry")
    }

    static let remove: Check = { store in
        let keys = ["r", "s"].flatMap { resource in
            ["a", "b"].flatMap { account in
                ["", "c"].map { CacheKey(resource: resource, account: account, content: $0) }
            }
        }
        typealias Step = (name: String, isRemoved: @Sendable (CacheEntry) -> Bool)
        let steps: [Step] = [
            ("an entry", { $0.key == keys[0] && $0.variant == "new" }),
            ("a resource", { $0.key.resource == "r" }),
            ("an account", { $0.key.account == "a" }),
            ("everything", { _ in true }),
        ]
        var found: [String] = []
        for step in steps {
            var written: [CacheEntry] = []
            for key in keys {
                for (age, variant) in ["new", "old"].enumerated() {
                    written.append(try await put(entry(key, variant, age: Double(age)), in: store))
                }
            }
            switch step.name {
            case "an entry": try await store.remove(written[0])
            case "a resource": try await store.remove(resource: "r")
            case "an account": try await store.remove(account: "a")
            default: try await store.remove(account: nil)
            }
            for key in keys {
                let kept = written.filter { $0.key == key && !step.isRemoved($0) }
                found += try await require(kept, in: store, for: key, "after \(step.name) was removed")
            }
            for entry in written where step.isRemoved(entry) {
                if try await store.body(of: entry) != nil { found.append("\(step.name) was removed, but not its body") }
            }
        }
        return found
    }
}
