import Foundation
import HTTPTypes
import PipelineCore

extension ConformanceCheck {
    /// Checks of responses whose framing is malformed or unusual.
    static let framing: [ConformanceCheck] = [
        ConformanceCheck(network: "a body cut at any place is truncated", cutBodies),
        ConformanceCheck(network: "a Content-Length that is not one number is malformedResponse", contentLengths),
        ConformanceCheck(network: "a status line or header line that is none is malformedResponse", lines),
        ConformanceCheck(network: "chunks may have extensions, and sizes that fit", chunks),
        ConformanceCheck(network: "header fields over the limits are an error", headerLimits),
        ConformanceCheck(network: "informational responses are skipped, except 101", informational),
        ConformanceCheck(network: "bytes after a response are in no response", surplus),
    ]

    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
    private static let hi = "Content-Length: 2\r\n\r\nhi"

    private static func cutBodies(_ bench: ConformanceBench) async throws {
        for count in 0..<5 {
            let text = ok + "Content-Length: 5\r\n\r\n" + "hello".prefix(count)
            try await require(.truncated, bench, after: text, then: .close)
        }
        for chunks in ["", "5", "5\r\nhel", "5\r\nhello", "5\r\nhello\r\n", "5\r\nhello\r\n0\r\n"] {
            try await require(.truncated, bench, after: chunked + chunks, then: .close)
        }
    }

    private static func contentLengths(_ bench: ConformanceBench) async throws {
        for value in [
            "2\r\nContent-Length: 5", "5\r\nContent-Length: 2", "-5", "+5", "0x5", "5 5", "", "99999999999999999999",
        ] {
            try await require(.malformedResponse, bench, after: ok + "Content-Length: \(value)\r\n\r\nhello")
        }
    }

    private static func lines(_ bench: ConformanceBench) async throws {
        for line in [
            "garbage", "HTTP/1.1 abc", "HTTP/1.1 99 Low", "HTTP/1.1 000 None", "HTTP/1.1 1000 High", "HTTP/0.9 200 OK",
            "\u{0}HTTP/1.1 200 OK",
        ] {
            try await require(.malformedResponse, bench, after: line + "\r\n" + hi)
        }
        for line in ["garbage", "HTTP/1.1 abc", "HTTP/1.1 99 Low"] {
            try await require(.malformedResponse, bench, after: line + "\r\n\r\n", then: .close)
        }
        for line in ["no colon", "X-A : 1", ": 1", "X-A: a\u{0}b"] {
            try await require(.malformedResponse, bench, after: ok + line + "\r\n" + hi)
        }
    }

    private static func chunks(_ bench: ConformanceBench) async throws {
        let target = bench.target(.init(path: "/chunks", script: [.send(chunked + "5;a=b\r\nhello\r\n0;c\r\n\r\n")]))
        try require(try await bench.response(to: target).data, is: Data("hello".utf8), "a chunked body")
        for size in ["fffffffffffffffff", "-5", "g"] {
            try await require(.malformedResponse, bench, after: chunked + size + "\r\nhello\r\n0\r\n\r\n")
        }
    }

    private static func headerLimits(_ bench: ConformanceBench) async throws {
        let value = String(repeating: "a", count: 400_000)
        try await require(.limit(.headerBytes), bench, after: ok + "X-A: \(value)\r\n" + hi)
        let fields = (0..<6_000).map { "h\($0):\r\n" }.joined()
        try await require(.limit(.headerCount), bench, after: ok + fields + hi)
    }

    private static func informational(_ bench: ConformanceBench) async throws {
        let hints = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"
        let response = try await bench.response(to: .init(path: "/hints", script: [.send(hints + ok + hi)]))
        try require(response.statusCode, is: 200, "the status")
        try require(response.headers.count, is: 1, "the number of header fields")
        try await require(.malformedResponse, bench, after: "HTTP/1.1 101 Switching Protocols\r\n\r\n")
    }

    private static func surplus(_ bench: ConformanceBench) async throws {
        for surplus in ["surplus", ok + "Content-Length: 4\r\n\r\nevil", ok + "X-Evil: "] {
            for head in ["HTTP/1.1 204 None\r\n\r\n", "HTTP/1.1 304 Same\r\n\r\n", ok + "Content-Length: 0\r\n\r\n"] {
                let target = bench.target(.init(path: "/surplus", method: .post, script: [.send(head + surplus)]))
                try require(try await bench.response(to: target).data, is: Data(), "the body")
                try await requireNext(bench)
            }
        }
    }
}
