import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

@Suite("TLS: many streams on one connection", .besideTLSServers, .realTime, .watched)
struct TLSMultiplexingTests {
    private let provider: Provider<SecureTarget>

    init() throws {
        provider = Provider(
            transport: TLSServers.authority == nil ? URLSessionTransport() : try SecureTransport.asyncHTTPClient.make()
        )
    }

    private func target(_ path: String, _ task: RequestTask = .requestPlain) -> SecureTarget {
        SecureTarget(baseURL: SecureServer.http2.url, path: path, method: .post, task: task)
    }

    /// The number that nginx assigns to the connection.
    private func connection(_ headers: HTTPFields) throws -> String {
        try #require(headers.text("X-Connection"))
    }

    /// Requests a number until it has the expected value; each response arrives on the same connection.
    private func count(_ path: String, is expected: Int) async throws -> Bool {
        for _ in 0..<2_000 where try await count(path) == expected { return true }
        return false
    }

    private func count(_ path: String) async throws -> Int {
        try await provider.request(target(path)).map(SecureCount.self).count
    }

    /// Waits until a number no longer changes and returns it.
    private func settled(_ number: () async throws -> Int) async throws -> Int {
        var (last, repeats) = (-1, 0)
        while repeats < 30 {
            _ = try await provider.request(target("/echo"))
            let next = try await number()
            repeats = next == last ? repeats + 1 : 0
            last = next
        }
        return last
    }

    @Test("100 calls run at once over one connection")
    func atOnce() async throws {
        let first = try connection(try await provider.request(target("/echo")).headers)
        let id = UUID().uuidString
        // The server responds to none before it has received all of them.
        let connections = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    let response = try await provider.request(target("/gather/100/\(id)"))
                    #expect(response.statusCode == 200)
                    return try connection(response.headers)
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(connections == [first])
    }

    @Test("a cancelled call or a dropped stream ends no other call")
    func cancellation() async throws {
        let id = UUID().uuidString
        let first = try connection(try await provider.request(target("/echo")).headers)
        let long = try await provider.stream(target("/bytes/\(20 << 20)"))
        var received = long.body.makeAsyncIterator()
        var data = try #require(try await received.next())
        let calls = (0..<10).map { _ in Task { try await provider.request(target("/stall/\(id)")) } }
        var dropped: StreamedResponse? = try await provider.stream(target("/stall/\(id)"))
        #expect(dropped?.statusCode == 200)
        #expect(try await count("/stalled/\(id)", is: 11))
        calls[0].cancel()
        await #expect(throws: CancellationError.self) { _ = try await calls[0].value }
        #expect(try await count("/stalled/\(id)", is: 10))
        dropped = nil
        #expect(try await count("/stalled/\(id)", is: 9))
        while let chunk = try await received.next() { data.append(chunk) }
        #expect(data == pattern(20 << 20))
        #expect(try await count("/stalled/\(id)") == 9)
        for call in calls { call.cancel() }
        #expect(try await count("/stalled/\(id)", is: 0))
        #expect(try connection(try await provider.request(target("/echo")).headers) == first)
    }

    @Test("a reader that pauses makes the server wait, and other streams continue")
    func backPressureDown() async throws {
        let (id, byteCount) = (UUID().uuidString, 64 << 20)
        let streamed = try await provider.stream(target("/bytes/\(byteCount)/\(id)"))
        var reader = streamed.body.makeAsyncIterator()
        var received = try #require(try await reader.next()).count
        let taken = try await settled { try await count("/written/\(id)") }
        #expect(taken < byteCount / 2)
        while let chunk = try await reader.next() { received += chunk.count }
        #expect(received == byteCount)
    }

    @Test("a server that does not read makes the request body wait, and other streams continue")
    func backPressureUp() async throws {
        let (id, pieceCount) = (UUID().uuidString, 64 << 4)
        let made = Atomic(0)
        let piece = pattern(1 << 16)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let stream = AsyncStream(unfolding: { @Sendable () -> Data? in
                made.wrappingAdd(1, ordering: .relaxed).newValue <= pieceCount ? piece : nil
            })
            let upload = target("/digest/\(id)", .requestStream(.stream(stream)))
            group.addTask {
                let answer = try await provider.request(upload).map(SecureCount.self)
                #expect(answer.count == pieceCount * piece.count)
            }
            let taken = try await settled { made.load(ordering: .relaxed) }
            #expect(taken < pieceCount / 2)
            _ = try await provider.request(target("/release/\(id)"))
            try await group.waitForAll()
        }
    }

    @Test("a complete response before the end of the request body ends the upload, and later calls work")
    func earlyEnd() async throws {
        for _ in 0..<5 {
            let (pieces, maker) = AsyncStream.makeStream(of: Data.self)
            maker.yield(Data("a piece, and then no more".utf8))
            let response = try await provider.request(target("/early", .requestStream(.stream(pieces))))
            #expect(response.statusCode == 200)
            #expect(response.data == Data("early".utf8))
            _ = try await provider.request(target("/echo"))
            maker.finish()
        }
        _ = try await provider.request(target("/early", .requestData(Data(count: 4 << 20))))
        #expect(try await provider.request(target("/echo")).statusCode == 200)
    }

    @Test("trailer fields do no harm", arguments: SecureServer.allCases)
    func trailers(server: SecureServer) async throws {
        for path in ["/trailers/bytes/1000", "/trailers/stream/1000", "/trailers/status/204"] {
            let response = try await provider.request(SecureTarget(baseURL: server.url, path: path))
            #expect(response.data == (path.hasSuffix("204") ? Data() : pattern(1_000)))
            #expect(!response.headers.contains { $0.name.canonicalName == "x-trailer" })
        }
    }

    @Test("connection-specific fields of HTTP/1.1 do not break HTTP/2")
    func connectionFields() async throws {
        var target = target("/echo", .requestData(Data("body".utf8)))
        target.headers = [
            "Connection": "keep-alive, X-Hop", "Keep-Alive": "timeout=5", "Proxy-Connection": "keep-alive",
            "TE": "trailers", "Upgrade": "h2c", "X-Hop": "1",
        ]
        let response = try await provider.request(target)
        let echo = try response.map(SecureEcho.self)
        #expect(echo.body == "body")
        for name in ["Keep-Alive", "Proxy-Connection", "Upgrade"] { #expect(echo.values(of: name).isEmpty, "\(name)") }
        #expect(response.headers.text("X-Protocol") == "HTTP/2.0")
    }
}
