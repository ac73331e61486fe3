import Dispatch
import Foundation
import HTTPTypes
import PipelineTesting
import TestSupport
import Testing

@testable import Pipeline

@Suite("Batches of a streamed answer", .timeLimit(.minutes(10)), .tags(.concurrent))
struct StreamBatchesTests {
    private func answer(_ body: PipelineBody, type: String? = nil) async throws -> StreamedResponse {
        let headers: HTTPFields = type.map { [.contentType: $0] } ?? [:]
        let transport = ScriptedTransport(always: .status(200, headers: headers, body: body))
        return try await Provider<TestTarget>(transport: transport).stream(TestTarget())
    }

    @Test("Nothing is read before the first value is asked for, and the next piece when those before it are used up")
    func laziness() async throws {
        let feed = WatchedFeed(["1\n2\n3", "\n4\n", "5\n"])
        let values = try await answer(.stream(feed)).jsonLines(as: Int.self)
        #expect(feed.readCount == 0)
        var iterator = values.makeAsyncIterator()
        #expect(feed.readCount == 0)
        for (value, count) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)] {
            #expect(try await iterator.next() == value)
            #expect(feed.readCount == count)
        }
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
    }

    @Test("Of a large piece no more values are decoded ahead than 128")
    func batches() async throws {
        let decoded = Journal()
        struct Noted: Decodable, Sendable {
            @TaskLocal static var journal: Journal?
            init(from decoder: any Decoder) throws { Self.journal?.add("") }
        }
        try await Noted.$journal.withValue(decoded) {
            let body = PipelineBody.bytes(Data(String(repeating: "1\n", count: 1_000).utf8))
            var iterator = try await answer(body).jsonLines(as: Noted.self).makeAsyncIterator()
            for _ in 0..<129 { _ = try await iterator.next() }
        }
        #expect(decoded.entries.count == 256)
    }
}
