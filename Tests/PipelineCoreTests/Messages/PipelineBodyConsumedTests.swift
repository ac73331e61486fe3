import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("PipelineBody: consumed", .watched)
struct PipelineBodyConsumedTests {
    @Test("A stream that can be read once is consumed as soon as it is read")
    func once() async throws {
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        continuation.yield(Data([1]))
        let body = PipelineBody.stream(stream)
        #expect(!body.isConsumed)
        var reader = body.chunks().makeAsyncIterator()
        #expect(!body.isConsumed)
        #expect(try await reader.next() == Data([1]))
        #expect(body.isConsumed)
    }

    @Test("Bodies that can be read again are never consumed")
    func again() async throws {
        let bodies: [PipelineBody] = [
            .absent, .bytes(Data([1])), .file(URL(filePath: "/nowhere")),
            .stream(replaying: { AsyncStream { $0.finish() } }),
        ]
        for body in bodies {
            _ = try? await body.collect(upTo: 9)
            #expect(!body.isConsumed)
        }
    }
}
