import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// A side that pauses makes the other one wait; the bodies are too large for the system's buffers.
@Suite("AsyncHTTPClientTransport, back-pressure", .tags(.concurrent), .realTime, .watched)
struct BackpressureTests {
    private static let mebibyte = Data(count: 1 << 20)
    /// In MiB: more than two socket buffers (here up to 32 and 4 MiB) plus 4 MiB.
    private static let bound = 40
    private static let byteCount = 96 << 20

    /// A response of so many MiB, each of which is followed by a released hold that counts it.
    private static func longAnswer(_ count: Int, counting: Bool) -> [LoopbackServer.Action] {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(count << 20)\r\n\r\n"
        return [.send(head)] + (0..<count).flatMap { _ in [.send(mebibyte)] + (counting ? [.hold("count")] : []) }
    }

    @Test("A reader that pauses makes the server wait, but no other stream")
    func readerPauses() async throws {
        let count = Self.byteCount >> 20
        let server = try LoopbackServer { request in Self.longAnswer(count, counting: request.target == "/paused") }
        defer { server.stop() }
        server.release("count")
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(readTimeout: nil, writeTimeout: nil))
        var paused = try await provider.stream(Probe(server, "/paused")).body.makeAsyncIterator()
        var received = try await paused.next()?.count ?? 0
        // While the first pauses, the second is read in full, which is enough time to send the first as well.
        var other = 0
        for try await piece in try await provider.stream(Probe(server, "/other")).body { other += piece.count }
        #expect(other == Self.byteCount)
        #expect(server.activity.holdCount < Self.bound)
        while let piece = try await paused.next() { received += piece.count }
        #expect(received == Self.byteCount)
        try await server.wait { $0.holdCount == count }
    }

    @Test("A server that pauses makes the request body wait")
    func serverPauses() async throws {
        let server = try LoopbackServer(requestByteCount: 2 * Self.byteCount, greeting: [.hold("read")]) { _ in
            [.respond(200)]
        }
        defer { server.stop() }
        let other = try LoopbackServer(requestByteCount: 2 * Self.byteCount) { _ in [.respond(200)] }
        defer { other.stop() }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(readTimeout: nil, writeTimeout: nil))
        let made = MadePieces(count: Self.byteCount >> 20)
        let task = RequestTask.requestStream(.stream(made))
        async let paused = provider.request(Probe(server, "/", method: .post, task: task))
        try await server.wait { $0.holdCount == 1 }
        let whole = MadePieces(count: Self.byteCount >> 20)
        _ = try await provider.request(
            Probe(other, "/", method: .post, task: .requestStream(.stream(whole)))
        )
        #expect(other.requests.map(\.body.count) == [Self.byteCount])
        #expect(made.madeCount > 0)
        #expect(made.madeCount < Self.bound)
        server.release("read")
        #expect(try await paused.statusCode == 200)
        #expect(server.requests.map(\.body.count) == [Self.byteCount])
        #expect(made.madeCount == Self.byteCount >> 20)
    }
}

/// Produces so many MiB, one for each request for a piece, and counts them.
private final class MadePieces: AsyncSequence, Sendable {
    private let count: Int
    private let made = Tally()

    init(count: Int) { self.count = count }

    var madeCount: Int { made.count }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pieces: MadePieces

        mutating func next() async -> Data? {
            guard pieces.madeCount < pieces.count else { return nil }
            pieces.made.add()
            return Data(count: 1 << 20)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self) }
}
