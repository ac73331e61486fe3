import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// Rows C10 and C11 of the fault matrix: servers that do not read the request body.
@Suite("Connection faults: uploads", .tags(.concurrent), .realTime, .watched)
struct UploadFaultTests {
    private static let pieceByteCount = 64 << 10

    /// A body of pieces that counts how many were requested; a weak reference shows when it is released.
    private final class Source: Sendable {
        let limit: Int
        private let count = Mutex(0)

        init(limit: Int) { self.limit = limit }

        var pieceCount: Int { count.withLock { $0 } }

        var body: PipelineBody {
            let piece = Data(repeating: 7, count: UploadFaultTests.pieceByteCount)
            return .stream(
                AsyncStream<Data>(unfolding: { self.next() ? piece : nil }),
                byteCount: limit * UploadFaultTests.pieceByteCount
            )
        }

        private func next() -> Bool {
            count.withLock { count in
                guard count < limit else { return false }
                count += 1
                return true
            }
        }
    }

    /// A body larger than two socket buffers, and small enough for Foundation, which reads it all first.
    private func source(for transport: NetworkTransport) -> Source {
        Source(limit: transport == .urlSession ? 256 : 1 << 20)
    }

    @Test(
        "C10: a streamed body that the server does not read fails with timeout.write, with little of it produced",
        arguments: NetworkTransport.allCases
    )
    func unreadBody(transport: NetworkTransport) async throws {
        let server = try LoopbackServer(receiveBufferByteCount: 4_096, greeting: [.receive, .hold("end")]) { _ in [] }
        defer { server.stop() }
        let bench = await inSomeTime([.milliseconds(300), .seconds(3), .seconds(20)]) { time in
            let bench = try FaultBench(transport.make(write: time))
            let source = source(for: transport)
            let start = ContinuousClock.now
            let target = Probe(server, method: .put, task: .requestStream(source.body))
            try expectTimeout(.timeout(.write), try await bench.provider.failure(target))
            #expect(ContinuousClock.now - start >= time * 0.96)
            #expect(source.pieceCount <= 256)
            return bench
        }
        server.release("end")
        try await #require(bench).expectSound(server)
    }

    @Test(
        "C10: bytes and files that a server does not read also fail with timeout.write",
        arguments: NetworkTransport.allCases,
        [true, false]
    )
    func unreadBytes(transport: NetworkTransport, isFile: Bool) async throws {
        let server = try LoopbackServer(receiveBufferByteCount: 4_096, greeting: [.receive, .hold("end")]) { _ in [] }
        defer { server.stop() }
        let content = Data(repeating: 7, count: 16 << 20)
        let file = FileManager.default.temporaryDirectory.appending(path: "unread-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        if isFile { try content.write(to: file) }
        let task = isFile ? RequestTask.uploadFile(file) : .requestData(content)
        let bench = await inSomeTime([.milliseconds(300), .seconds(3), .seconds(20)]) { time in
            let bench = try FaultBench(transport.make(write: time))
            let error = try await bench.provider.failure(Probe(server, method: .put, task: task))
            try expectTimeout(.timeout(.write), error)
            return bench
        }
        server.release("end")
        try await #require(bench).expectSound(server)
    }

    @Test(
        "C11: a response that arrives during an upload is delivered, and the upload stops",
        arguments: NetworkTransport.allCases,
        [413, 503]
    )
    func earlyAnswer(transport: NetworkTransport, status: Int) async throws {
        let bench = try FaultBench(transport.make(read: .seconds(120), write: .seconds(120)))
        let server = try LoopbackServer(
            receiveBufferByteCount: 4_096,
            greeting: [.receive, .respond(status, body: "no"), .hold("end")]
        ) { _ in [] }
        defer { server.stop() }
        weak var released: Source?
        do {
            let source = source(for: transport)
            released = source
            let target = Probe(server, method: .put, task: .requestStream(source.body))
            let response = try await bench.provider.request(target)
            #expect(response.statusCode == status)
            #expect(response.data == Data("no".utf8))
            #expect(source.pieceCount <= 256)
        }
        await eventually { released == nil }
        server.release("end")
        try await bench.expectSound(server)
    }
}

#if AsyncHTTPClient
extension UploadFaultTests {
    @Test("C11: the body of an early response is read to its end, even if that takes longer than the write timeout")
    func earlyAnswerInPieces() async throws {
        let transport = NetworkTransport.asyncHTTPClient
        let bench = await inSomeTime { time in
            let bench = try FaultBench(transport.make(write: time))
            let server = try LoopbackServer(
                receiveBufferByteCount: 4_096,
                greeting: [
                    .receive, .send("HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nn"), .wait(time * 2), .send("o"),
                    .hold("end"),
                ]
            ) { _ in [] }
            defer { server.stop() }
            let source = source(for: transport)
            let target = Probe(server, method: .put, task: .requestStream(source.body))
            #expect(try await bench.provider.request(target).data == Data("no".utf8))
            server.release("end")
            try await server.wait { $0.openConnectionCount == 0 }
            return bench
        }
        try await #require(bench).expectSound()
    }

    @Test(
        "C11: an early successful response is delivered, too, and then the upload stops",
        arguments: [true, false]
    )
    func earlySuccess(isRead: Bool) async throws {
        let transport = NetworkTransport.asyncHTTPClient
        let bench = try FaultBench(transport.make())
        let answer = LoopbackServer.Action.respond(200, body: "yes")
        // Whether the server reads the body after its response.
        let greeting = [.receive, answer, isRead ? .stall : .hold("end")]
        let server = try LoopbackServer(receiveBufferByteCount: 4_096, greeting: greeting) { _ in [] }
        defer { server.stop() }
        weak var released: Source?
        do {
            let source = source(for: transport)
            released = source
            let target = Probe(server, method: .put, task: .requestStream(source.body))
            #expect(try await bench.provider.request(target).data == Data("yes".utf8))
        }
        await eventually { released == nil }
        server.release("end")
        try await bench.expectSound(server)
    }

    @Test("A body that takes longer to produce than the transport's timeouts is sent")
    func slowSource() async throws {
        let transport = NetworkTransport.asyncHTTPClient
        let pausing = try FaultBench(transport.make())
        let data = await inSomeTime([.milliseconds(500), .seconds(4), .seconds(16)]) { time in
            let bench = try FaultBench(transport.make(read: time, write: time))
            let server = try LoopbackServer { request in
                request.target == "/pause" ? [.wait(time * 2), .respond(200)] : [.respond(200, body: request.body)]
            }
            defer { server.stop() }
            let count = Mutex(0)
            let body = PipelineBody.stream(
                AsyncThrowingStream<Data, any Error>(unfolding: {
                    _ = try await pausing.provider.request(Probe(server, "/pause"))
                    return count.withLock { count in
                        count += 1
                        return count <= 2 ? Data("\(count)".utf8) : nil
                    }
                })
            )
            return try await bench.provider.request(Probe(server, method: .put, task: .requestStream(body))).data
        }
        #expect(data == Data("12".utf8))
    }

    @Test("After a body in pieces ends, the header fields must arrive within readTimeout")
    func headAfterPieces() async throws {
        let server = try LoopbackServer { _ in [.stall] }
        defer { server.stop() }
        let bench = await inSomeTime([.milliseconds(500), .seconds(4), .seconds(16)]) { time in
            let bench = try FaultBench(NetworkTransport.asyncHTTPClient.make(read: time))
            let target = Probe(server, method: .put, task: .requestStream(Source(limit: 3).body))
            try expectTimeout(.timeout(.head), try await bench.provider.failure(target))
            return bench
        }
        try await #require(bench).expectSound(server)
        #expect(server.requests.last?.body.count == 3 * Self.pieceByteCount)
    }
}
#endif
