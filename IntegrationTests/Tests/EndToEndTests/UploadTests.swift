import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("httpbin: uploads", .besideHTTPBin, .realTime, .watched)
struct UploadTests {
    private let provider = Provider<Anything>()

    private func withFile<Value>(_ data: Data, _ work: (URL) async throws -> Value) async throws -> Value {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try data.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await work(file)
    }

    private static func chunks(_ data: Data, of size: Int) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for start in stride(from: 0, to: data.count, by: size) {
                continuation.yield(data[start..<min(start + size, data.count)])
            }
            continuation.finish()
        }
    }

    @Test(
        "a file arrives unchanged, without a Content-Type",
        arguments: [HTTPRequest.Method.post, .put, .patch]
    )
    func file(method: HTTPRequest.Method) async throws {
        let echo = try await withFile(binarySample) {
            try await provider.request(Anything(method: method, task: .uploadFile($0)), as: Echo.self)
        }
        #expect(bytes(ofDataURL: echo.data) == binarySample)
        #expect(echo.headers["Content-Length"] == String(binarySample.count))
        #expect(echo.headers["Content-Type"] == nil)
        #expect(echo.form.isEmpty)
    }

    @Test("a file of two mebibytes arrives in full, with the target's Content-Type")
    func largeFile() async throws {
        let large = Data((0..<2 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) })
        let echo = try await withFile(large) { url in
            let target = Anything(method: .put, task: .uploadFile(url), headers: ["Content-Type": "video/mp4"])
            return try await provider.request(target, as: Echo.self)
        }
        #expect(bytes(ofDataURL: echo.data) == large)
        #expect(echo.headers["Content-Type"] == "video/mp4")
    }

    @Test("a file is resent after a redirect that keeps the method", arguments: [307, 308])
    func redirectedFile(code: Int) async throws {
        let provider = Provider<RedirectTo>()
        let response = try await withFile(binarySample) {
            try await provider.request(RedirectTo("/anything", code: code, method: .post, task: .uploadFile($0)))
        }
        #expect(bytes(ofDataURL: try response.map(Echo.self).data) == binarySample)
        #expect(response.exchanges.count == 2)
    }

    @Test("a missing file fails before anything is sent")
    func missingFile() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let error = try #require(await provider.failure(Anything(method: .post, task: .uploadFile(url))))
        #expect(error.code.isKind(of: .file))
        #expect(error.exchanges.isEmpty)
    }

    @Test("a stream of known or unknown length arrives in full", arguments: [nil, 1_024])
    func stream(byteCount: Int?) async throws {
        for size in [1, 100, 1_024] {
            let body = PipelineBody.stream(Self.chunks(binarySample, of: size), byteCount: byteCount)
            let echo = try await provider.request(Anything(method: .post, task: .requestStream(body)), as: Echo.self)
            #expect(bytes(ofDataURL: echo.data) == binarySample)
            #expect(echo.headers["Content-Length"] == (byteCount == nil ? lengthOfUnknown : "1024"))
            #expect(echo.headers["Transfer-Encoding"] == (echo.headers["Content-Length"] == nil ? "chunked" : nil))
        }
    }

    @Test("a stream is resent after a redirect only if it can be read again", arguments: [true, false])
    func redirectedStream(isReplayable: Bool) async throws {
        let body =
            isReplayable
            ? PipelineBody.stream { Self.chunks(binarySample, of: 100) } : .stream(Self.chunks(binarySample, of: 100))
        let provider = Provider<RedirectTo>()
        let target = RedirectTo("/anything", code: 308, method: .put, task: .requestStream(body))
        let response = try await provider.request(target)
        guard isReplayable else {
            #expect(response.statusCode == 308)
            #expect(response.exchanges.map(\.refusedRedirect) == [.bodyNotReplayable])
            return
        }
        #expect(bytes(ofDataURL: try response.map(Echo.self).data) == binarySample)
    }

    @Test("a stream that fails fails the call")
    func failingStream() async throws {
        struct Broken: Error {}
        let chunks = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("half".utf8))
            continuation.finish(throwing: Broken())
        }
        let target = Anything(method: .post, task: .requestStream(.stream(chunks)))
        let error = try #require(await provider.failure(target))
        #expect(error.underlyingError is Broken)
    }

    @Test("GET, HEAD and TRACE cannot upload", arguments: [HTTPRequest.Method.get, .head, .trace])
    func methods(method: HTTPRequest.Method) async throws {
        let target = Anything(method: method, task: .requestStream(.bytes(Data("x".utf8))))
        #expect(await provider.failure(target)?.code == .invalidRequest(.body))
    }
}
