import Foundation
import HTTPTypes
import PipelineCore

extension ConformanceCheck {
    /// Checks of responses whose framing is malformed or unusual.
    static let framing: [ConformanceCheck] = [
        ConformanceCheck("a body cut at any place is truncated", needsNetwork: true, run: cutBodies),
        ConformanceCheck(
            "a Content-Length that is not one number is malformedResponse",
            needsNetwork: true,
            run: contentLengths
        ),
        ConformanceCheck(
            "a status line or header line that is none is malformedResponse",
            needsNetwork: true,
            run: lines
        ),
        ConformanceCheck("chunks may have extensions, and sizes that fit", needsNetwork: true, run: chunks),
        ConformanceCheck("header fields over the limits are an error", needsNetwork: true, run: headerLimits),
        ConformanceCheck("informational responses are skipped, except 101", needsNetwork: true, run: informational),
        ConformanceCheck("bytes after a response are in no response", needsNetwork: true, run: surplus),
    ]

    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"

    private static func cutBodies(_ bench: ConformanceBench) async throws {
        for count in 0..<5 {
            let text = ok + "Content-Length: 5\r\n\r\n" + "hello".prefix(count)
            try await require(.truncated, after: text, closes: true, bench)
        }
        for chunks in ["", "5", "5\r\nhel", "5\r\nhello", "5\r\nhello\r\n", "5\r\nhello\r\n0\r\n"] {
            try await require(.truncated, after: chunked + chunks, closes: true, bench)
        }
    }

    private static func contentLengths(_ bench: ConformanceBench) async throws {
        for value in [
            "2\r\nContent-Length: 5", "5\r\nContent-Length: 2", "-5", "+5", "0x5", "5 5", "", "99999999999999999999",
        ] {
            try await require(.malformedResponse, after: ok + "Content-Length: \(value)\r\n\r\nhello", bench)
        }
    }

    private static func lines(_ bench: ConformanceBench) async throws {
        for line in [
            "garbage", "HTTP/1.1 abc", "HTTP/1.1 99 Low", "HTTP/1.1 000 None", "HTTP/1.1 1000 High", "HTTP/0.9 200 OK",
            "\u{0}HTTP/1.1 200 OK",
        ] {
            try await require(.malformedResponse, after: line + "\r\nContent-Length: 2\r\n\r\nhi", bench)
        }
        for line in ["no colon", "X-A : 1", ": 1", "X-A: a\u{0}b"] {
            try await require(.malformedResponse, after: ok + line + "\r\nContent-Length: 2\r\n\r\nhi", bench)
        }
    }

    private static func chunks(_ bench: ConformanceBench) async throws {
        let text = chunked + "5;a=b\r\nhello\r\n0;c\r\n\r\n"
        let answer = ConformanceAnswer(script: [.send(text)])
        let response = try await bench.makeProvider().request(bench.target("/chunks", answer: answer))
        try ConformanceFailure.require(response.data, is: Data("hello".utf8), "a chunked body")
        for size in ["fffffffffffffffff", "-5", "g"] {
            try await require(.malformedResponse, after: chunked + size + "\r\nhello\r\n0\r\n\r\n", bench)
        }
    }

    private static func headerLimits(_ bench: ConformanceBench) async throws {
        let value = String(repeating: "a", count: 400_000)
        try await require(.limit(.headerBytes), after: ok + "X-A: \(value)\r\nContent-Length: 2\r\n\r\nhi", bench)
        let fields = (0..<6_000).map { "h\($0):\r\n" }.joined()
        try await require(.limit(.headerCount), after: ok + fields + "Content-Length: 2\r\n\r\nhi", bench)
    }

    private static func informational(_ bench: ConformanceBench) async throws {
        let hints = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"
        let answer = ConformanceAnswer(script: [.send(hints + ok + "Content-Length: 2\r\n\r\nhi")])
        let response = try await bench.makeProvider().request(bench.target("/hints", answer: answer))
        try ConformanceFailure.require(response.statusCode, is: 200, "the status")
        try ConformanceFailure.require(response.headers.count, is: 1, "the number of header fields")
        try await require(.malformedResponse, after: "HTTP/1.1 101 Switching Protocols\r\n\r\n", bench)
    }

    private static func surplus(_ bench: ConformanceBench) async throws {
        for surplus in ["surplus", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "HTTP/1.1 200 OK\r\nX-Evil: "] {
            for head in ["HTTP/1.1 204 None\r\n\r\n", "HTTP/1.1 304 Same\r\n\r\n", ok + "Content-Length: 0\r\n\r\n"] {
                let answer = ConformanceAnswer(script: [.send(head + surplus)])
                let target = bench.target("/surplus", method: .post, answer: answer)
                let response = try await bench.makeProvider().request(target)
                try ConformanceFailure.require(response.data, is: Data(), "the body")
                try await requireNext(bench)
            }
        }
    }

    /// Uses POST so that no transport retries.
    private static func require(
        _ expected: PipelineError.Code,
        after text: String,
        closes: Bool = false,
        _ bench: ConformanceBench
    ) async throws {
        let answer = ConformanceAnswer(script: [.send(text)] + (closes ? [.close] : []))
        let target = bench.target("/framing", method: .post, answer: answer)
        let code = try await bench.failureCode { _ = try await bench.makeProvider().request(target) }
        try ConformanceFailure.require(code, is: expected, "the code for \(text.prefix(100).debugDescription)")
        try await requireNext(bench)
    }

    private static func requireNext(_ bench: ConformanceBench) async throws {
        let answer = ConformanceAnswer(body: Data("next".utf8))
        let next = try await bench.makeProvider().request(bench.target("/next", answer: answer))
        try ConformanceFailure.require(next.data, is: answer.body, "the response of the next call")
        try ConformanceFailure.require(next.headers.count, is: 1, "the number of its header fields")
    }
}
