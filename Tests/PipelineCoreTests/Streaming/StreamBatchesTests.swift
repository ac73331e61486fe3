import Dispatch
import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Batches of a streamed response", .tags(.concurrent), .watched)
struct StreamBatchesTests {
    private func answer(_ body: PipelineBody, type: String? = nil) async throws -> StreamedResponse {
        let headers: HTTPFields = type.map { [.contentType: $0] } ?? [:]
        let transport = ScriptedTransport(always: .status(200, headers: headers, body: body))
        return try await Provider<TestTarget>(transport: transport).stream(TestTarget())
    }

    @Test("A piece is read only when a value is requested and no decoded values are left")
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

    @Test("At most 128 values of a large piece are decoded ahead")
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
