import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// Bodies of any size, in both directions.
@Suite("URLSessionTransport, large bodies", .tags(.concurrent), .realTime, .watched)
struct URLSessionBodyTests {
    static func chunks(_ count: Int, of byteCount: Int, then last: (any Error)? = nil) -> PipelineBody {
        let made = Made()
        return .stream {
            AsyncThrowingStream<Data, any Error>(unfolding: {
                if let number = made.next(below: count) {
                    return Data(repeating: UInt8(number % 251), count: byteCount)
                }
                if let last { throw last }
                return nil
            })
        }
    }

    /// So many bytes, in blocks that all differ.
    static func content(_ byteCount: Int) -> Data {
        var data = Data(capacity: byteCount)
        var block: UInt64 = 0
        while data.count < byteCount {
            block += 1
            data += Data(repeating: UInt8(truncatingIfNeeded: block), count: 1_000) + Data("\(block)".utf8)
        }
        return data.prefix(byteCount)
    }

    /// The temporary files of streamed bodies that exist now.
    static func spools() -> Set<String> {
        let folder = FileManager.default.temporaryDirectory.path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return Set(names.filter { $0.hasPrefix(".pipeline-") })
    }

    @Test(
        "A streamed body arrives in full, from memory if it is short and otherwise from a temporary file",
        arguments: [3, 40]
    )
    func streamed(_ count: Int) async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let task = RequestTask.requestStream(Self.chunks(count, of: 50_000))
        let target = Probe(server, method: .put, task: task)
        _ = try await Provider<Probe>(transport: URLSessionTransport()).request(target)
        var expected = Data()
        for number in 0..<count { expected += Data(repeating: UInt8(number % 251), count: 50_000) }
        #expect(server.requests.first?.body == expected)
        #expect(server.requests.first?.values(of: "Content-Length") == ["\(count * 50_000)"])
    }

    /// The permissions of those temporary files among these that have so many bytes.
    static func modes(of names: Set<String>, byteCount: Int) -> Set<Int> {
        let folder = FileManager.default.temporaryDirectory
        let modes = names.compactMap { name -> Int? in
            let attributes = try? FileManager.default.attributesOfItem(atPath: folder.appending(path: name).path)
            guard (attributes?[.size] as? NSNumber)?.intValue == byteCount else { return nil }
            return (attributes?[.posixPermissions] as? NSNumber)?.intValue
        }
        return Set(modes)
    }

    @Test("A streamed body that fails halfway is not sent, and its temporary file with mode 0600 is deleted")
    func streamFails() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let seen = Mutex<Set<String>>([])
        let modes = Mutex<Set<Int>>([])
        let before = Self.spools()
        let failure = PipelineError(.connectionLost, "by test")
        let body = PipelineBody.stream {
            let made = Made()
            return AsyncThrowingStream<Data, any Error>(unfolding: {
                if made.next(below: 30) != nil { return Data(count: 50_000) }
                let names = Self.spools()
                seen.withLock { $0 = names }
                modes.withLock { $0 = Self.modes(of: names.subtracting(before), byteCount: 1_500_000) }
                throw failure
            })
        }
        let target = Probe(server, method: .put, task: .requestStream(body))
        let provider = Provider<Probe>(transport: URLSessionTransport())
        #expect(try await provider.failureCode(target) == .connectionLost)
        #expect(server.activity.connectionCount == 0)
        let mine = seen.withLock { $0 }.subtracting(before)
        #expect(!mine.isEmpty)
        #expect(modes.withLock { $0 } == [0o600])
        await eventually { Self.spools().isDisjoint(with: mine) }
    }

    @Test("A streamed body that does not have its announced length is not sent", arguments: [0, 2, 10])
    func announcedLength(_ byteCount: Int) async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let body = PipelineBody.stream(byteCount: byteCount) {
            AsyncStream<Data> { continuation in
                continuation.yield(Data(count: 4))
                continuation.finish()
            }
        }
        let target = Probe(server, method: .put, task: .requestStream(body))
        #expect(try await Provider<Probe>(transport: URLSessionTransport()).failureCode(target) == .bodyChanged)
        #expect(server.activity.connectionCount == 0)
    }

    @Test("A network that is faster than the disk fails neither a download nor a call with progress")
    func fasterThanReader() async throws {
        let content = Self.content(6_000_000)
        let server = try LoopbackServer { _ in [.respond(200, body: content)] }
        defer { server.stop() }
        let file = FileManager.default.temporaryDirectory.appending(path: "fast-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let provider = Provider<Probe>(transport: URLSessionTransport(unreadByteCount: 1_000))
        _ = try await provider.request(Probe(server, task: .downloadDestination(.file(file))))
        #expect(try Data(contentsOf: file) == content)
        var received: Data?
        for try await step in provider.requestWithProgress(Probe(server)) { received = step.response?.data }
        #expect(received == content)
    }

    @Test("Foundation reports the progress of an upload, and the body arrives")
    func uploadProgress() async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "done")] }
        defer { server.stop() }
        let file = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let content = Self.content(3_000_000)
        try content.write(to: file)
        let target = Probe(server, method: .post, task: .uploadFile(file))
        var steps: [ProgressResponse] = []
        for try await step in Provider<Probe>(transport: URLSessionTransport()).requestWithProgress(target) {
            steps.append(step)
        }
        #expect(server.requests.first?.body == content)
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.progress <= $1.progress })
        #expect(steps.count { $0.progress == 1 } == 1)
        #expect(steps.last?.completed == true)
        #expect(steps.last?.sent == .init(byteCount: 3_000_000, totalByteCount: 3_000_000))
        #expect(steps.last?.response?.data == Data("done".utf8))
    }

    @Test("The progress of a response follows the bytes that have arrived")
    func answerProgress() async throws {
        let half = Data(repeating: 1, count: 500)
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"), .send(half), .hold("half"), .send(half)]
        }
        defer { server.stop() }
        var steps: [ProgressResponse] = []
        for try await step in Provider<Probe>(transport: URLSessionTransport()).requestWithProgress(Probe(server)) {
            steps.append(step)
            if step.received.byteCount == 500 { server.release("half") }
        }
        #expect(steps.contains { $0.progress == 0.5 && $0.received.totalByteCount == 1000 })
        #expect(steps.last?.response?.data.count == 1000)
    }

    @Test("A download arrives in its file; a cut one leaves no file, and the next call works")
    func download() async throws {
        let content = Self.content(2_000_000)
        let server = try LoopbackServer { request in
            request.target == "/cut"
                ? [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n12345"), .close]
                : [.respond(200, body: content)]
        }
        defer { server.stop() }
        let folder = FileManager.default.temporaryDirectory.appending(path: "downloads-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "a.bin")
        let task = RequestTask.downloadDestination(.file(file))
        let provider = Provider<Probe>(transport: URLSessionTransport())
        #expect(try await provider.failureCode(Probe(server, "/cut", task: task)) == .truncated)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        let response = try await provider.request(Probe(server, task: task))
        #expect(response.body.fileURL == file)
        #expect(try Data(contentsOf: file) == content)
    }

    @Test("A download that was cut resumes over the network")
    func resumedDownload() async throws {
        let text = "0123456789"
        let server = try LoopbackServer { request in
            guard let range = request.values(of: "Range").first, request.values(of: "If-Range") == ["\"v1\""],
                let first = Int(range.dropFirst(6).dropLast())
            else {
                let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 10\r\n\r\n"
                return [.send(head + text.prefix(4)), .close]
            }
            let fields = [("ETag", "\"v1\""), ("Content-Range", "bytes \(first)-9/10")]
            return [.respond(206, headers: fields, body: String(text.dropFirst(first)))]
        }
        defer { server.stop() }
        let folder = FileManager.default.temporaryDirectory.appending(path: "downloads-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let destination = DownloadDestination.file(folder.appending(path: "a")).resumable(
            at: folder.appending(path: "a.part")
        )
        let provider = Provider<Probe>(transport: URLSessionTransport())
        let target = Probe(server, task: .downloadDestination(destination))
        #expect(try await provider.failureCode(target) == .truncated)
        _ = try await provider.request(target)
        #expect(try String(contentsOf: folder.appending(path: "a"), encoding: .utf8) == text)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a"])
        #expect(server.requests.map { $0.values(of: "Accept-Encoding") } == [["identity"], ["identity"]])
    }
}

/// Counts the pieces that a stream has produced.
private final class Made: Sendable {
    private let count = Mutex(0)

    func next(below limit: Int) -> Int? {
        count.withLock { count in
            guard count < limit else { return nil }
            count += 1
            return count - 1
        }
    }
}
