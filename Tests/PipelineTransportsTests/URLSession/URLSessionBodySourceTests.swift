import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("URLSessionTransport: request bodies", .tags(.concurrent), .realTime, .watched)
struct URLSessionBodySourceTests {
    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appending(path: "files-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: url) }

        func write(_ data: Data) throws -> URL {
            let file = url.appending(path: "a")
            try data.write(to: file)
            return file
        }
    }

    @Test(
        "Bytes and files are sent with their length and without unrequested fields",
        arguments: [HTTPRequest.Method.post, .put],
        [(nil, true), (nil, false), ("text/plain", true), ("text/plain", false)]
    )
    func fields(method: HTTPRequest.Method, body: (type: String?, isFile: Bool)) async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let folder = try Folder()
        let content = URLSessionBodyTests.content(3_000_000)
        let provider = Provider<Probe>(transport: URLSessionTransport())
        let task: RequestTask = body.isFile ? .uploadFile(try folder.write(content)) : .requestData(content)
        var target = Probe(server, method: method, task: task)
        target.headers = body.type.map { ["Content-Type": $0] }
        for _ in 1...2 { #expect(try await provider.request(target).statusCode == 200) }
        for request in server.requests {
            #expect(request.body == content)
            #expect(request.values(of: "Content-Length") == ["3000000"])
            #expect(request.values(of: "Content-Type") == (body.type.map { [$0] } ?? []))
            #expect(request.values(of: "Transfer-Encoding") == [] && request.values(of: "Expect") == [])
        }
        #expect(server.requests.count == 2 && server.activity.connectionCount == 1)
    }

    /// Foundation's own upload from a file crashed the process here: it continued an exchange that had ended.
    @Test("P07: 300 file uploads cancelled at random end, the next one arrives, and no connection is left")
    func storm() async throws {
        let server = try LoopbackServer(receiveBufferByteCount: 64 << 10) { request in
            request.target == "/next" ? [.respond(200)] : [.respond(200, headers: [("Connection", "close")]), .close]
        }
        defer { server.stop() }
        let folder = try Folder()
        let file = try folder.write(Data(repeating: 7, count: 1 << 20))
        do {
            let provider = Provider<Probe>(transport: URLSessionTransport())
            var random = PipelineRandom.seeded(0xf11e)
            for index in 0..<300 {
                let target = Probe(server, "/\(index)", method: .put, task: .uploadFile(file))
                let call = Task { try await provider.request(target) }
                for _ in 0..<Int.random(in: 0...400, using: &random) { await Task.yield() }
                call.cancel()
                do { _ = try await call.value } catch is CancellationError {}
            }
            let next = Probe(server, "/next", method: .put, task: .uploadFile(file))
            #expect(try await provider.request(next).statusCode == 200)
            #expect(server.requests.last?.body.count == 1 << 20)
        }
        try await server.wait { $0.openConnectionCount == 0 }
    }

    #if canImport(FoundationNetworking)
    @Test("F10 A file that shrinks while it is sent fails with bodyChanged, and the next call works")
    func shortened() async throws {
        let server = try LoopbackServer(
            receiveBufferByteCount: 64 << 10,
            greeting: [.receive, .hold("shorter"), .stall]
        ) { _ in [] }
        let other = try LoopbackServer { _ in [.respond(200)] }
        defer {
            server.stop()
            other.stop()
        }
        let folder = try Folder()
        // More than two socket buffers hold.
        let file = try folder.write(Data(count: 16 << 20))
        let provider = Provider<Probe>(transport: URLSessionTransport())
        let target = Probe(server, method: .put, task: .uploadFile(file))
        async let failure = provider.failure(target)
        try await server.wait { $0.holdCount == 1 }
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 16)
        try handle.close()
        server.release("shorter")
        #expect(try await failure?.code == .bodyChanged)
        try await server.wait { $0.openConnectionCount == 0 }
        #expect(try await provider.request(Probe(other)).statusCode == 200)
    }

    @Test("F10 Only the announced bytes of a file that has grown are sent")
    func lengthened() throws {
        let folder = try Folder()
        let content = URLSessionBodyTests.content(100_000)
        let file = try folder.write(content)
        let source = try URLSessionBodySource(file, FileLane())
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(count: 10))
        try handle.close()
        for _ in 1...2 { #expect(read(source.makeStream()) == content) }
        #expect(source.failure == nil)
    }

    @Test("M05 On Linux, a file that cannot be read while it is sent fails with file.unreadable, not bodyChanged")
    func unreadable() throws {
        let file = URL(filePath: "/sys/devices/software/power/autosuspend_delay_ms")
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        let source = try URLSessionBodySource(file, FileLane())
        #expect(read(source.makeStream()).isEmpty)
        #expect(source.failure?.code == .file(.unreadable))
    }

    private func read(_ stream: InputStream) -> Data {
        stream.open()
        defer { stream.close() }
        var all = Data()
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while stream.hasBytesAvailable {
            let count = stream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { break }
            all += buffer.prefix(count)
        }
        return all
    }

    @Test(
        "On Linux, a body that Foundation resends after a lost connection is sent from its beginning",
        arguments: [100, 1 << 20],
        [true, false]
    )
    func sentAgain(byteCount: Int, isFile: Bool) async throws {
        let dyingCount = Mutex(0)
        let server = try LoopbackServer { request in
            guard request.target == "/dies" else { return [.respond(200)] }
            let count = dyingCount.withLock { count in
                count += 1
                return count
            }
            return count == 1 ? [.close] : [.respond(200)]
        }
        defer { server.stop() }
        let folder = try Folder()
        let content = URLSessionBodyTests.content(byteCount)
        let task: RequestTask = isFile ? .uploadFile(try folder.write(content)) : .requestData(content)
        let provider = Provider<Probe>(transport: URLSessionTransport())
        _ = try await provider.request(Probe(server, "/first"))
        #expect(try await provider.request(Probe(server, "/dies", method: .put, task: task)).statusCode == 200)
        #expect(server.requests.map(\.target) == ["/first", "/dies", "/dies"])
        #expect(server.requests.last?.body == content)
        #expect(server.requests.last?.values(of: "Content-Length") == ["\(byteCount)"])
    }
    #endif
}
