import Foundation
import HTTPTypes
import PipelineCore

extension ConformanceCheck {
    /// Checks of statuses, header fields and redirects.
    static let messages: [ConformanceCheck] = [
        ConformanceCheck("a status is handed over as it is", status),
        ConformanceCheck("header fields are kept", headerFields),
        ConformanceCheck("repeated response fields are kept", repeatedResponseFields),
        ConformanceCheck(network: "request fields are sent", requestFields),
        ConformanceCheck("a redirect is not followed", redirect),
        ConformanceCheck("the transport does not respond to a challenge", challenge),
        ConformanceCheck(network: "the target is sent as it is", requestTarget),
    ]

    private static func status(_ bench: ConformanceBench) async throws {
        let provider = bench.makeProvider()
        for code in [200, 201, 202, 299, 400, 404, 418, 500, 503, 599] {
            let target = bench.target(.init(path: "/\(code)", status: code, body: Data("\(code)".utf8)))
            let response = try await provider.request(target)
            try require(response.statusCode, is: code, "the status")
            try require(response.data, is: target.body, "the body of status \(code)")
        }
    }

    private static func headerFields(_ bench: ConformanceBench) async throws {
        let fields = [
            (name: "Content-Type", value: "text/plain; charset=utf-8"), ("X-Mixed-Case", "A b\tC"), ("etag", "\"1,2\""),
            ("X-Empty", ""), ("Date", "Wed, 21 Oct 2026 07:28:00 GMT"),
        ]
        let response = try await bench.response(to: .init(path: "/fields", fields: fields))
        for (text, value) in fields {
            guard let name = HTTPField.Name(text) else { continue }
            try require(response.headers[name], is: value, text)
        }
    }

    private static func repeatedResponseFields(_ bench: ConformanceBench) async throws {
        let cookies = ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/", "b=2", "c=x, y; Secure"]
        let fields = cookies.map { ("Set-Cookie", $0) } + [("X-List", "1"), ("X-List", "2, 3"), ("X-List", "4")]
        let response = try await bench.response(to: .init(path: "/repeats", fields: fields))
        try require(response.headers[values: .setCookie], is: cookies, "Set-Cookie")
        guard let list = HTTPField.Name("X-List") else { return }
        let items = elements(of: response.headers[values: list])
        try require(items, is: ["1", "2", "3", "4"], "the elements of a repeated field")
    }

    private static func requestFields(_ bench: ConformanceBench) async throws {
        guard let list = HTTPField.Name("X-List"), let plain = HTTPField.Name("X-Plain") else { return }
        let provider = bench.makeProvider(plugins: [
            .prepare { request, _ in
                for value in ["1", "2", "3"] { request.headers.append(HTTPField(name: list, value: value)) }
                request.headers[plain] = "a; b=\"c\""
            }
        ])
        _ = try await provider.request(bench.target(.init(path: "/sent")))
        guard let sent = bench.server.requests.first else { throw Failure(message: "nothing was sent") }
        try require(elements(of: sent.values(of: "x-list")), is: ["1", "2", "3"], "a repeated field")
        try require(sent.values(of: "x-plain"), is: ["a; b=\"c\""], "a field")
        try require(sent.values(of: "host"), is: ["127.0.0.1:\(bench.server.port)"], "Host")
        try require(sent.values(of: "cookie"), is: [], "Cookie")
    }

    private static func redirect(_ bench: ConformanceBench) async throws {
        let provider = bench.makeProvider()
        let codes = [301, 302, 303, 307, 308]
        for code in codes {
            let fields = [(name: "Location", value: "/elsewhere")]
            let target = bench.target(.init(path: "/\(code)", status: code, fields: fields, body: Data("moved".utf8)))
            let response = try await provider.request(target)
            try require(response.statusCode, is: code, "the status of a redirect")
            try require(response.headers[.location], is: "/elsewhere", "Location")
            try require(response.data, is: target.body, "the body of a redirect")
        }
        guard bench.kind.sendsBytes else { return }
        try require(bench.server.requests.map(\.target), is: codes.map { "/\($0)" }, "what was requested")
    }

    private static func challenge(_ bench: ConformanceBench) async throws {
        let fields = [(name: "WWW-Authenticate", value: "Basic realm=\"r\"")]
        let target = bench.target(.init(path: "/challenge", status: 401, fields: fields, body: Data("who?".utf8)))
        let response = try await bench.response(to: target)
        try require(response.statusCode, is: 401, "the status of a challenge")
        try require(response.headers[.wwwAuthenticate], is: fields[0].value, "WWW-Authenticate")
        try require(response.data, is: target.body, "the body of a challenge")
        guard bench.kind.sendsBytes else { return }
        try require(bench.server.requests.count, is: 1, "the number of requests")
    }

    private static func requestTarget(_ bench: ConformanceBench) async throws {
        let query = "q=a%20b+c&empty=&a=%2F/?:@!$'()*,;"
        let provider = bench.makeProvider(plugins: [.prepare { request, _ in request.appendQuery(query) }])
        let paths = ["/", "/a/b", "/a%2Fb", "/%E2%82%AC", "/a//b/", "/;p=1,2", "/~-._!$&'()*+,;=:@"]
        for path in paths { _ = try await provider.request(bench.target(.init(path: path))) }
        try require(bench.server.requests.map(\.target), is: paths.map { "\($0)?\(query)" }, "what was requested")
    }

    private static func elements(of values: [String]) -> [String] {
        values.joined(separator: ",").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
