import Foundation
import HTTPTypes
import PipelineCore

extension ConformanceCheck {
    /// Checks of statuses, header fields and redirects.
    static let messages: [ConformanceCheck] = [
        ConformanceCheck("a status is handed over as it is", run: status),
        ConformanceCheck("header fields are kept", run: headerFields),
        ConformanceCheck("repeated response fields are kept", run: repeatedResponseFields),
        ConformanceCheck("request fields are sent", needsNetwork: true, run: requestFields),
        ConformanceCheck("a redirect is not followed", run: redirect),
        ConformanceCheck("the transport does not respond to a challenge", run: challenge),
        ConformanceCheck("the target is sent as it is", needsNetwork: true, run: requestTarget),
    ]

    private static func status(_ bench: ConformanceBench) async throws {
        let provider = bench.makeProvider()
        for code in [200, 201, 202, 299, 400, 404, 418, 500, 503, 599] {
            let answer = ConformanceAnswer(status: code, body: Data("\(code)".utf8))
            let response = try await provider.request(bench.target("/\(code)", answer: answer))
            try ConformanceFailure.require(response.statusCode, is: code, "the status")
            try ConformanceFailure.require(response.data, is: answer.body, "the body of status \(code)")
        }
    }

    private static func headerFields(_ bench: ConformanceBench) async throws {
        let fields = [
            ("Content-Type", "text/plain; charset=utf-8"), ("X-Mixed-Case", "A b\tC"), ("etag", "\"1,2\""),
            ("X-Empty", ""), ("Date", "Wed, 21 Oct 2026 07:28:00 GMT"),
        ]
        let answer = ConformanceAnswer(fields: fields.map { (name: $0.0, value: $0.1) })
        let response = try await bench.makeProvider().request(bench.target("/fields", answer: answer))
        for (text, value) in fields {
            guard let name = HTTPField.Name(text) else { continue }
            try ConformanceFailure.require(response.headers[name], is: value, text)
        }
    }

    private static func repeatedResponseFields(_ bench: ConformanceBench) async throws {
        let cookies = ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/", "b=2", "c=x, y; Secure"]
        let answer = ConformanceAnswer(
            fields: cookies.map { ("Set-Cookie", $0) } + [("X-List", "1"), ("X-List", "2, 3"), ("X-List", "4")]
        )
        let response = try await bench.makeProvider().request(bench.target("/repeats", answer: answer))
        try ConformanceFailure.require(response.headers[values: .setCookie], is: cookies, "Set-Cookie")
        guard let list = HTTPField.Name("X-List") else { return }
        let items = elements(of: response.headers[values: list])
        try ConformanceFailure.require(items, is: ["1", "2", "3", "4"], "the elements of a repeated field")
    }

    private static func requestFields(_ bench: ConformanceBench) async throws {
        guard let list = HTTPField.Name("X-List"), let plain = HTTPField.Name("X-Plain") else { return }
        let provider = bench.makeProvider(plugins: [
            .prepare { request, _ in
                for value in ["1", "2", "3"] { request.headers.append(HTTPField(name: list, value: value)) }
                request.headers[plain] = "a; b=\"c\""
            }
        ])
        _ = try await provider.request(bench.target("/sent"))
        guard let sent = bench.server.requests.first else { throw ConformanceFailure(message: "nothing was sent") }
        try ConformanceFailure.require(
            elements(of: sent.values(of: "x-list")),
            is: ["1", "2", "3"],
            "a repeated field"
        )
        try ConformanceFailure.require(sent.values(of: "x-plain"), is: ["a; b=\"c\""], "a field")
        let host = "127.0.0.1:\(bench.server.port)"
        try ConformanceFailure.require(sent.values(of: "host"), is: [host], "Host")
        try ConformanceFailure.require(sent.values(of: "cookie"), is: [], "Cookie")
    }

    private static func redirect(_ bench: ConformanceBench) async throws {
        let provider = bench.makeProvider()
        for code in [301, 302, 303, 307, 308] {
            let answer = ConformanceAnswer(status: code, fields: [("Location", "/elsewhere")], body: Data("moved".utf8))
            let response = try await provider.request(bench.target("/\(code)", answer: answer))
            try ConformanceFailure.require(response.statusCode, is: code, "the status of a redirect")
            try ConformanceFailure.require(response.headers[.location], is: "/elsewhere", "Location")
            try ConformanceFailure.require(response.data, is: answer.body, "the body of a redirect")
        }
        guard bench.sendsBytes else { return }
        let targets = bench.server.requests.map(\.target)
        try ConformanceFailure.require(targets, is: ["/301", "/302", "/303", "/307", "/308"], "what was requested")
    }

    private static func challenge(_ bench: ConformanceBench) async throws {
        let answer = ConformanceAnswer(
            status: 401,
            fields: [("WWW-Authenticate", "Basic realm=\"r\"")],
            body: Data("who?".utf8)
        )
        let response = try await bench.makeProvider().request(bench.target("/challenge", answer: answer))
        try ConformanceFailure.require(response.statusCode, is: 401, "the status of a challenge")
        try ConformanceFailure.require(response.headers[.wwwAuthenticate], is: "Basic realm=\"r\"", "WWW-Authenticate")
        try ConformanceFailure.require(response.data, is: answer.body, "the body of a challenge")
        guard bench.sendsBytes else { return }
        try ConformanceFailure.require(bench.server.requests.count, is: 1, "the number of requests")
    }

    private static func requestTarget(_ bench: ConformanceBench) async throws {
        let provider = bench.makeProvider(plugins: [
            .prepare { request, _ in request.appendQuery("q=a%20b+c&empty=&a=%2F/?:@!$'()*,;") }
        ])
        for path in ["/", "/a/b", "/a%2Fb", "/%E2%82%AC", "/a//b/", "/;p=1,2", "/~-._!$&'()*+,;=:@"] {
            _ = try await provider.request(bench.target(path))
        }
        let sent = bench.server.requests.map(\.target)
        let expected = ["/", "/a/b", "/a%2Fb", "/%E2%82%AC", "/a//b/", "/;p=1,2", "/~-._!$&'()*+,;=:@"]
            .map { $0 + "?q=a%20b+c&empty=&a=%2F/?:@!$'()*,;" }
        try ConformanceFailure.require(sent, is: expected, "what was requested")
    }

    private static func elements(of values: [String]) -> [String] {
        values.joined(separator: ",").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
