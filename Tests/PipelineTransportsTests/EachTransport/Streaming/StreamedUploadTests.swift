import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Streamed request bodies", .tags(.concurrent), .realTime, .watched)
struct StreamedUploadTests {
    /// Pieces of 64 KiB, produced on request.
    private final class Pieces: AsyncSequence, Sendable {
        typealias Element = Data

        struct AsyncIterator: AsyncIteratorProtocol {
            let pieces: Pieces
            var index = 0

            mutating func next() async throws -> Data? {
                guard index < pieces.count else { return nil }
                try await pieces.willMake(index)
                index += 1
                pieces.made.store(index, ordering: .relaxed)
                return pieces.piece
            }
        }

        let count: Int
        let made = Atomic(0)
        private let piece = Data(repeating: 7, count: 64 << 10)
        private let willMake: @Sendable (Int) async throws -> Void

        init(_ count: Int, willMake: @escaping @Sendable (Int) async throws -> Void = { _ in }) {
            self.count = count
            self.willMake = willMake
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self) }
    }

    private func upload(_ pieces: Pieces, to server: LoopbackServer) -> Probe {
        Probe(server, method: .post, task: .requestStream(.stream(pieces)))
    }

    #if AsyncHTTPClient
    @Test("AsyncHTTPClient sends a piece before the next one is produced")
    func piecewise() async throws {
        let server = try LoopbackServer(greeting: [.receive, .hold("begun")]) { _ in [.respond(200)] }
        defer { server.stop() }
        server.release("begun")
        let pieces = Pieces(3) { index in
            if index > 0 { try await server.wait { $0.holdCount == 1 } }
        }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport())
        // The greeting received the beginning, so the rest is not a valid request.
        #expect(try await provider.request(upload(pieces, to: server)).statusCode == 400)
        #expect(pieces.made.load(ordering: .relaxed) > 1)
    }

    @Test("C10: AsyncHTTPClient requests no more of a 256 MiB body than the buffers hold if the server reads nothing")
    func backpressure() async throws {
        let server = try LoopbackServer(greeting: [.hold("reading")]) { _ in [] }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport())
        let pieces = Pieces(4_096)
        var target = upload(pieces, to: server)
        target.options.attemptTimeout = .seconds(2)
        #expect(try await provider.failureCode(target) == .timeout(.attempt))
        let count = pieces.made.load(ordering: .relaxed)
        // The system buffers less than 48 MiB for both ends.
        #expect(count < 768, "\(count) pieces")
    }
    #endif

    @Test("URLSession reads a streamed body in full before it connects, into a file if it is long")
    func spooling() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let early = Mutex<[Int]>([])
        let pieces = Pieces(64) { _ in
            let count = server.activity.connectionCount
            early.withLock { $0.append(count) }
        }
        let provider = Provider<Probe>(transport: URLSessionTransport())
        #expect(try await provider.request(upload(pieces, to: server)).statusCode == 200)
        #expect(early.withLock { $0 } == Array(repeating: 0, count: 64))
        #expect(server.requests.first?.body.count == 64 << 16)
    }

    @Test("A body of many pieces arrives in full, each piece requested once", arguments: NetworkTransport.allCases)
    func whole(_ transport: NetworkTransport) async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let pieces = Pieces(40)
        #expect(
            try await Provider<Probe>(transport: transport.make()).request(upload(pieces, to: server)).statusCode == 200
        )
        #expect(server.requests.first?.body == Data(repeating: 7, count: 40 << 16))
        #expect(pieces.made.load(ordering: .relaxed) == 40)
    }

    @Test(
        "A body of 4 bytes that is announced with another length fails with bodyChanged, and none of it is a request",
        arguments: NetworkTransport.allCases,
        [0, 2, 10]
    )
    func announcedLength(_ transport: NetworkTransport, byteCount: Int) async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make())
        let body = PipelineBody.stream(byteCount: byteCount) {
            AsyncStream<Data> { continuation in
                continuation.yield(Data(count: 4))
                continuation.finish()
            }
        }
        let target = Probe(server, method: .put, task: .requestStream(body))
        #expect(try await provider.failureCode(target) == .bodyChanged)
        #expect(server.requests.isEmpty)
        #expect(try await provider.request(Probe(server)).statusCode == 200)
    }
}
