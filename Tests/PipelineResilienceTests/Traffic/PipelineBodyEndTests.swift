import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("The end of a body", .watched)
struct PipelineBodyEndTests {
    private static func pieces(failing: Bool = false) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            continuation.yield(Data("ab".utf8))
            continuation.finish(throwing: failing ? URLError(.networkConnectionLost) : nil)
        }
    }

    private final class Ends: Sendable {
        private let texts = Mutex<[String]>([])

        var all: [String] { texts.withLock { $0 } }

        func add(_ end: BodyEnd) {
            let text =
                switch end {
                case .complete: "complete"
                case .failed: "failed"
                case .released: "released"
                }
            texts.withLock { $0.append(text) }
        }
    }

    @Test("A body in memory has ended at once, and is not changed")
    func memory() {
        let ends = Ends()
        let body = PipelineBody.bytes(Data("ab".utf8)).onEnd { ends.add($0) }
        #expect(ends.all == ["complete"])
        #expect(body.bytes == Data("ab".utf8))
    }

    @Test("A stream ends when it has been read, has failed, or is released, and only once")
    func streams() async throws {
        let ends = Ends()
        do {
            let body = PipelineBody.stream(Self.pieces(), byteCount: 2).onEnd { ends.add($0) }
            #expect(body.byteCount == 2)
            #expect(ends.all == [])
            #expect(try await body.collect(upTo: 10) == Data("ab".utf8))
            #expect(ends.all == ["complete"])
        }
        do {
            let body = PipelineBody.stream(Self.pieces(failing: true)).onEnd { ends.add($0) }
            await #expect(throws: (any Error).self) { try await body.collect(upTo: 10) }
        }
        #expect(ends.all == ["complete", "failed"])
        do { _ = PipelineBody.stream(Self.pieces()).onEnd { ends.add($0) } }
        #expect(ends.all == ["complete", "failed", "released"])
    }

    @Test("A stream whose reader goes away before the end is released, although the body is still held")
    func abandoned() async throws {
        let ends = Ends()
        let body = PipelineBody.stream(Self.pieces()).onEnd { ends.add($0) }
        for try await _ in body.chunks() { break }
        #expect(ends.all == ["released"])
        await #expect(throws: PipelineError.self) { try await body.collect(upTo: 10) }
    }
}
