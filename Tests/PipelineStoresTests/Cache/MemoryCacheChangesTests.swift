import Foundation
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("MemoryCacheChanges", .watched)
struct MemoryCacheChangesTests {
    private let key = CacheKey(resource: "r", account: "a")

    @Test("K05: a removal affects the keys of its resource, of its account, or all, and only earlier generations")
    func scopes() {
        var changes = MemoryCacheChanges()
        let start = changes.generation
        for other in ["a", "other"] { changes.add(resource: other) }
        for other in ["r", "other"] { changes.add(account: other) }
        #expect(!changes.affect(key, since: start))
        let additions: [(inout MemoryCacheChanges) -> Void] = [
            { $0.add(resource: "r") }, { $0.add(account: "a") }, { $0.add(account: nil) },
        ]
        for add in additions {
            let before = changes.generation
            add(&changes)
            #expect(changes.affect(key, since: before))
            #expect(!changes.affect(key, since: changes.generation))
        }
    }

    @Test("K05: after removals of more than 1,000 resources, all keys count as affected by them")
    func bound() {
        var changes = MemoryCacheChanges()
        let start = changes.generation
        for number in 0..<1_000 { changes.add(resource: "\(number)") }
        #expect(!changes.affect(key, since: start))
        changes.add(resource: "one more")
        #expect(changes.affect(key, since: start))
        #expect(!changes.affect(key, since: changes.generation))
    }

    @Test("K05: bytes that another store has made count as outdated")
    func foreign() {
        #expect(MemoryCacheChanges().affect(key, since: Data("other".utf8)))
    }
}
