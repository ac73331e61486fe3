import Foundation
import PipelineTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("LoopbackBlackHole", .timeLimit(.minutes(10)), .tags(.concurrent))
struct LoopbackBlackHoleTests {
    #if canImport(FoundationNetworking)
    @Test("a black hole answers no connection", arguments: 0..<3)
    func blackHole(round: Int) throws {
        let hole = try LoopbackBlackHole()
        #expect(try !RawClient.connects(to: hole.port, within: 300))
        #expect(hole.url.port == hole.port)
    }

    @Test("a black hole that goes gives its port back")
    func blackHoleEnds() throws {
        // Somebody else may be given the port at once.
        let isRefused = try (0..<3).contains { _ in
            var hole: LoopbackBlackHole? = try LoopbackBlackHole()
            let port = try #require(hole?.port)
            hole = nil
            return (try? RawClient(port: port)) == nil
        }
        #expect(isRefused)
    }
    #endif
}
