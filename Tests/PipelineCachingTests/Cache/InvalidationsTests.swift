import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("The changes that a cache has seen", .watched)
struct InvalidationsTests {
    @Test("A response is outdated if its resource, or all resources, changed after its request began")
    func current() {
        let changes = Invalidations()
        let start = changes.count
        #expect(changes.isCurrent("a", since: start))
        changes.add("b")
        #expect(changes.isCurrent("a", since: start))
        #expect(!changes.isCurrent("b", since: start))
        #expect(changes.isCurrent("b", since: changes.count))
        changes.addAll()
        #expect(!changes.isCurrent("a", since: start))
        #expect(changes.isCurrent("a", since: changes.count))
    }

    @Test("Beyond 1,000 resources, all responses whose requests began before are outdated")
    func bound() {
        let changes = Invalidations()
        changes.add("first")
        let start = changes.count
        for index in 1..<1_000 { changes.add("\(index)") }
        #expect(changes.isCurrent("other", since: start))
        changes.add("one more")
        #expect(!changes.isCurrent("other", since: start))
        #expect(!changes.isCurrent("first", since: start))
        #expect(changes.isCurrent("first", since: changes.count))
    }

    @Test("Of the changes whose responses the store could not remove, the latest 1,000 are kept")
    func pendingBound() {
        let changes = Invalidations()
        for index in 0...1_000 { changes.add("\(index)") }
        #expect(changes.pending("0") == nil)
        for index in 1...1_000 { #expect(changes.pending("\(index)") != nil) }
    }

    @Test("A removal ends its own change, but not a later one of the resource")
    func end() throws {
        let changes = Invalidations()
        changes.add("a")
        let first = try #require(changes.pending("a"))
        changes.add("a")
        changes.end("a", first)
        let second = try #require(changes.pending("a"))
        changes.end("a", second)
        #expect(changes.pending("a") == nil)
    }
}
