import Foundation
import HTTPTypes
import PipelineCore

extension ConformanceCheck {
    /// Checks of bodies in both directions.
    static let bodies: [ConformanceCheck] = [
        ConformanceCheck("the bytes of a response arrive as they are", responseBytes),
        ConformanceCheck(network: "the bytes of a request arrive as they are", requestBytes),
        ConformanceCheck("HEAD, 204 and 304 have no body", noBody),
        ConformanceCheck("a decoded body is not said to be coded", contentCoding),
        ConformanceCheck("a streamed body is complete", wholeStream),
        ConformanceCheck(network: "a streamed body is handed over as it arrives", streamInPieces),
        ConformanceCheck("a body that goes to a file arrives whole", download),
        ConformanceCheck(network: "a response with progress is handed over as it arrives", watchedAnswer),
        ConformanceCheck(network: "how much of an upload has been sent is reported", watchedUpload),
        ConformanceCheck(network: "a stream that is dropped closes its exchange", droppedStream),
        ConformanceCheck("50 calls at once each get their own response", concurrentCalls),
    ]

    private static let allBytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    private static let inPieces: [LoopbackServer.Action] = [
        .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .hold("rest"), .send("two"),
    ]

    private static func responseBytes(_ bench: ConformanceBench) async throws {
        let provider = bench.makeProvider()
        for count in [0, 1, 255, 16_384, 100_000] {
            let target = bench.target(.init(path: "/\(count)", body: Data(allBytes.prefix(count))))
            let response = try await provider.request(target)
            try require(response.data == target.body, "a body of \(count) bytes is another")
        }
        let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;x=y\r\n!\r\n0\r\n\r\n"
        let target = bench.target(.init(path: "/chunked", body: Data("hello!".utf8), script: [.send(chunks)]))
        try require(try await provider.request(target).data, is: target.body, "a chunked body")
    }

    private static func requestBytes(_ bench: ConformanceBench) async throws {
        let (first, second) = (Data(allBytes.prefix(50_000)), Data(allBytes.dropFirst(50_000)))
        let bodies: [PipelineBody] = [
            .absent, .bytes(Data()), .bytes(Data([0])), .bytes(allBytes), .stream([first, second].stream),
        ]
        for (index, body) in bodies.enumerated() {
            let provider = bench.makeProvider(plugins: [.prepare { request, _ in request.body = body }])
            _ = try await provider.request(bench.target(.init(path: "/\(index)", method: .post)))
        }
        let requests = bench.server.requests
        try require(requests.map(\.body.count), is: [0, 0, 1, 300_000, 300_000], "the lengths of bodies")
        try require(requests[3...].allSatisfy { $0.body == allBytes }, "a body arrived as another")
        let types = requests.flatMap { $0.values(of: "Content-Type") }
        try require(types, is: [], "Content-Type, which the request did not ask for,")
    }

    private static func noBody(_ bench: ConformanceBench) async throws {
        let provider = bench.makeProvider()
        let headFields = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        var head = ConformanceTarget(path: "/head", method: .head, script: [.send(headFields)])
        head.fields = [("Content-Length", "5")]
        let response = try await provider.request(bench.target(head))
        try require(response.data, is: Data(), "the body of HEAD")
        try require(response.headers[.contentLength], is: "5", "Content-Length of HEAD")
        for code in [204, 304] {
            let response = try await provider.request(bench.target(.init(path: "/\(code)", status: code)))
            try require(response.statusCode, is: code, "the status")
            try require(response.data, is: Data(), "the body of status \(code)")
        }
    }

    private static func contentCoding(_ bench: ConformanceBench) async throws {
        // "hello gzip", compressed by zlib.
        let gzip = Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJV0ivyiwAABlq0t8KAAAA") ?? Data()
        let target = bench.target(.init(path: "/gzip", fields: [("Content-Encoding", "gzip")], body: gzip))
        let response = try await bench.response(to: target)
        guard bench.transport.decodesContent, !bench.kind.leavesCodings else {
            try require(response.data, is: gzip, "a coded body")
            return try require(response.headers[.contentEncoding], is: "gzip", "Content-Encoding")
        }
        try require(response.data, is: Data("hello gzip".utf8), "a decoded body")
        try require(response.headers[.contentEncoding], is: nil, "Content-Encoding")
        try require(response.headers[.contentLength], is: nil, "Content-Length")
    }

    private static func concurrentCalls(_ bench: ConformanceBench) async throws {
        let provider = bench.makeProvider()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<50 {
                let body = Data(String(repeating: "\(index) ", count: index * 50).utf8)
                let target = bench.target(.init(path: "/call/\(index)", body: body))
                group.addTask {
                    let response = try await provider.request(target)
                    try require(response.data == body, "call \(index) got another call's response")
                }
            }
            try await group.waitForAll()
        }
    }
}

// MARK: Streams and transfers

extension ConformanceCheck {
    private static func wholeStream(_ bench: ConformanceBench) async throws {
        let target = bench.target(.init(path: "/stream", status: 201, body: allBytes))
        let response = try await bench.makeProvider().stream(target)
        try require(response.statusCode, is: 201, "the status")
        var collected = Data()
        for try await chunk in response.body { collected.append(chunk) }
        try require(collected == allBytes, "the stream gave \(collected.count) bytes or others")
    }

    private static func streamInPieces(_ bench: ConformanceBench) async throws {
        let response = try await bench.makeProvider().stream(bench.target(.init(path: "/pieces", script: inPieces)))
        var collected = Data()
        for try await chunk in response.body {
            collected.append(chunk)
            if collected == Data("one".utf8) { bench.server.release("rest") }
        }
        try require(collected, is: Data("onetwo".utf8), "a body in two pieces")
    }

    private static func download(_ bench: ConformanceBench) async throws {
        let data = try await TemporaryFile.data { file in
            let task = RequestTask.downloadDestination(.file(file, options: .createIntermediateDirectories))
            _ = try await bench.response(to: .init(path: "/file", task: task, body: allBytes))
        }
        try require(data == allBytes, "the file has other bytes")
    }

    private static func watchedAnswer(_ bench: ConformanceBench) async throws {
        var data: Data?
        let target = bench.target(.init(path: "/watched", script: inPieces))
        for try await step in bench.makeProvider().requestWithProgress(target) {
            if step.received.byteCount == 3 { bench.server.release("rest") }
            data = step.response?.data ?? data
        }
        try require(data, is: Data("onetwo".utf8), "a body in two pieces")
    }

    private static func watchedUpload(_ bench: ConformanceBench) async throws {
        let bytes = Data(count: 400_000)
        let stream = PipelineBody.stream(byteCount: bytes.count) { [bytes].stream }
        for (index, body) in [PipelineBody.bytes(bytes), stream].enumerated() {
            let target = bench.target(.init(path: "/upload/\(index)", method: .post, task: .requestStream(body)))
            var last = ProgressResponse.Transfer()
            for try await step in bench.makeProvider().requestWithProgress(target) {
                try require(step.sent.byteCount >= last.byteCount, "fewer bytes were sent than before")
                last = step.sent
            }
            try require(last.byteCount, is: 400_000, "the count of bytes that were sent")
        }
    }

    private static func droppedStream(_ bench: ConformanceBench) async throws {
        let target = bench.target(.init(path: "/endless", script: endless))
        let provider = bench.makeProvider()
        _ = try await provider.stream(target)
        try await bench.server.wait { $0.connectionCount > 0 && $0.openConnectionCount == 0 }
        for try await _ in try await provider.stream(target).body { break }
        try await bench.server.wait { $0.connectionCount > 1 && $0.openConnectionCount == 0 }
        try await requireNext(bench)
    }
}

extension [Data] {
    /// The pieces as a stream.
    var stream: AsyncStream<Data> {
        AsyncStream { continuation in
            for piece in self { continuation.yield(piece) }
            continuation.finish()
        }
    }
}

/// A file in a folder of its own.
enum TemporaryFile {
    /// Returns the content of the file after work that writes it, and deletes it.
    static func data(writtenBy work: (URL) async throws -> Void) async throws -> Data {
        let folder = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "file", directoryHint: .notDirectory)
        try await work(file)
        return try Data(contentsOf: file)
    }
}
