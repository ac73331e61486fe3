import Foundation
import HTTPTypes
import PipelineCore

extension ConformanceCheck {
    /// Checks of bodies in both directions.
    static let bodies: [ConformanceCheck] = [
        ConformanceCheck("the bytes of a response arrive as they are", run: responseBytes),
        ConformanceCheck("the bytes of a request arrive as they are", needsNetwork: true, run: requestBytes),
        ConformanceCheck("HEAD, 204 and 304 have no body", run: noBody),
        ConformanceCheck("a decoded body is not said to be coded", run: contentCoding),
        ConformanceCheck("a streamed body is complete", run: wholeStream),
        ConformanceCheck("a streamed body is handed over as it arrives", needsNetwork: true, run: streamInPieces),
        ConformanceCheck("a body that goes to a file arrives whole", run: download),
        ConformanceCheck(
            "a response with progress is handed over as it arrives",
            needsNetwork: true,
            run: watchedAnswer
        ),
        ConformanceCheck("how much of an upload has been sent is reported", needsNetwork: true, run: watchedUpload),
        ConformanceCheck("a stream that is dropped closes its exchange", needsNetwork: true, run: droppedStream),
        ConformanceCheck("50 calls at once each get their own response", run: concurrentCalls),
    ]

    private static let allBytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })

    private static func responseBytes(_ bench: ConformanceBench) async throws {
        let provider = bench.makeProvider()
        for count in [0, 1, 255, 16_384, 100_000] {
            let answer = ConformanceAnswer(body: Data(allBytes.prefix(count)))
            let response = try await provider.request(bench.target("/\(count)", answer: answer))
            try ConformanceFailure.require(response.data == answer.body, "a body of \(count) bytes is another")
        }
        let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;x=y\r\n!\r\n0\r\n\r\n"
        let answer = ConformanceAnswer(body: Data("hello!".utf8), script: [.send(chunks)])
        let response = try await provider.request(bench.target("/chunked", answer: answer))
        try ConformanceFailure.require(response.data, is: answer.body, "a chunked body")
    }

    private static func requestBytes(_ bench: ConformanceBench) async throws {
        let stream = AsyncStream { continuation in
            continuation.yield(Data(allBytes.prefix(50_000)))
            continuation.yield(Data(allBytes.dropFirst(50_000)))
            continuation.finish()
        }
        let bodies: [PipelineBody] = [.absent, .bytes(Data()), .bytes(Data([0])), .bytes(allBytes), .stream(stream)]
        for (index, body) in bodies.enumerated() {
            let provider = bench.makeProvider(plugins: [.prepare { request, _ in request.body = body }])
            _ = try await provider.request(bench.target("/\(index)", method: .post))
        }
        let counts = bench.server.requests.map(\.body.count)
        try ConformanceFailure.require(counts, is: [0, 0, 1, 100_000, 100_000], "the lengths of bodies")
        let isSame = bench.server.requests[3].body == allBytes && bench.server.requests[4].body == allBytes
        try ConformanceFailure.require(isSame, "a body arrived as another")
        let types = bench.server.requests.flatMap { $0.values(of: "Content-Type") }
        try ConformanceFailure.require(types, is: [], "Content-Type, which the request did not ask for,")
    }

    private static func noBody(_ bench: ConformanceBench) async throws {
        let provider = bench.makeProvider()
        let head = ConformanceAnswer(
            fields: [("Content-Length", "5")],
            script: [.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")]
        )
        let response = try await provider.request(bench.target("/head", method: .head, answer: head))
        try ConformanceFailure.require(response.data, is: Data(), "the body of HEAD")
        try ConformanceFailure.require(response.headers[.contentLength], is: "5", "Content-Length of HEAD")
        for code in [204, 304] {
            let target = bench.target("/\(code)", answer: ConformanceAnswer(status: code))
            let response = try await provider.request(target)
            try ConformanceFailure.require(response.statusCode, is: code, "the status")
            try ConformanceFailure.require(response.data, is: Data(), "the body of status \(code)")
        }
    }

    private static func contentCoding(_ bench: ConformanceBench) async throws {
        // "hello gzip", compressed by zlib.
        let gzip = Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJV0ivyiwAABlq0t8KAAAA") ?? Data()
        let answer = ConformanceAnswer(fields: [("Content-Encoding", "gzip")], body: gzip)
        let response = try await bench.makeProvider().request(bench.target("/gzip", answer: answer))
        guard bench.transport.decodesContent, !bench.leavesCodings else {
            try ConformanceFailure.require(response.data, is: gzip, "a coded body")
            return try ConformanceFailure.require(response.headers[.contentEncoding], is: "gzip", "Content-Encoding")
        }
        try ConformanceFailure.require(response.data, is: Data("hello gzip".utf8), "a decoded body")
        try ConformanceFailure.require(response.headers[.contentEncoding], is: nil, "Content-Encoding")
        try ConformanceFailure.require(response.headers[.contentLength], is: nil, "Content-Length")
    }

    private static func wholeStream(_ bench: ConformanceBench) async throws {
        let answer = ConformanceAnswer(status: 201, body: allBytes)
        let response = try await bench.makeProvider().stream(bench.target("/stream", answer: answer))
        try ConformanceFailure.require(response.statusCode, is: 201, "the status")
        var collected = Data()
        for try await chunk in response.body { collected.append(chunk) }
        try ConformanceFailure.require(collected == allBytes, "the stream gave \(collected.count) bytes or others")
    }

    private static func streamInPieces(_ bench: ConformanceBench) async throws {
        let script: [LoopbackServer.Action] = [
            .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .hold("rest"), .send("two"),
        ]
        let target = bench.target("/pieces", answer: ConformanceAnswer(script: script))
        let response = try await bench.makeProvider().stream(target)
        var collected = Data()
        for try await chunk in response.body {
            collected.append(chunk)
            if collected == Data("one".utf8) { bench.server.release("rest") }
        }
        try ConformanceFailure.require(collected, is: Data("onetwo".utf8), "a body in two pieces")
    }

    private static func droppedStream(_ bench: ConformanceBench) async throws {
        let script: [LoopbackServer.Action] = [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none"), .stall]
        let target = bench.target("/endless", answer: ConformanceAnswer(script: script))
        let provider = bench.makeProvider()
        _ = try await provider.stream(target)
        try await bench.server.wait { $0.connectionCount > 0 && $0.openConnectionCount == 0 }
        for try await _ in try await provider.stream(target).body { break }
        try await bench.server.wait { $0.connectionCount > 1 && $0.openConnectionCount == 0 }
        let answer = ConformanceAnswer(body: Data("next".utf8))
        let next = try await provider.request(bench.target("/next", answer: answer))
        try ConformanceFailure.require(next.data, is: answer.body, "the response of the next call")
    }

    private static func concurrentCalls(_ bench: ConformanceBench) async throws {
        let provider = bench.makeProvider()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<50 {
                let answer = ConformanceAnswer(body: Data(String(repeating: "\(index) ", count: index * 50).utf8))
                let target = bench.target("/call/\(index)", answer: answer)
                group.addTask {
                    let response = try await provider.request(target)
                    try ConformanceFailure.require(
                        response.data == answer.body,
                        "call \(index) got another call's response"
                    )
                }
            }
            try await group.waitForAll()
        }
    }
}
