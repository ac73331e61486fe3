import Foundation
import HTTPTypes
import Pipeline
import PipelineRecording
import TestSupport
import Testing

@Suite("RequestMatching")
struct RequestMatchingTests {
    private func request(
        _ url: String = "https://api.example/a",
        _ method: String = "GET",
        type: String? = nil,
        body: String? = nil,
        headers: HTTPFields = [:]
    ) -> RecordedExchange.Request {
        var headers = headers
        if let type { headers[.contentType] = type }
        return .init(method: method, url: url, headers: headers, body: body.map { Data($0.utf8) })
    }

    /// Whether a transport that has recorded one request answers the other.
    private func matches(
        _ live: RecordedExchange.Request,
        _ recorded: RecordedExchange.Request,
        _ matching: RequestMatching
    ) async throws -> Bool {
        let bench = try RecordingBench()
        var file = HARFile()
        file.append(HAREntry(RecordedExchange(request: recorded, response: .init(status: 200))))
        try file.write(to: bench.file)
        let replay = try ReplayTransport(bench.file, matching: matching)
        let provider = bench.provider(replay) { request in
            request = try PipelineRequest(
                HTTPMethod(rawValue: live.method) ?? .get,
                url: live.url,
                headers: live.headers,
                body: live.body.map { .bytes($0) } ?? .none
            )
        }
        let code = try await provider.failureCode(bench.target())
        #expect(code == nil || code == .noMatch)
        return code == nil
    }

    @Test(
        "URLs are compared in one form",
        arguments: [
            ("https://api.example/a", "https://API.example:443/a", true), ("http://h/a", "http://h:80/a", true),
            ("http://h/a", "https://h/a", false), ("http://h/a", "http://h:8080/a", false),
            ("http://h", "http://h/", true),
            ("http://h/%7Ea/%c3%a9", "http://h/~a/%C3%A9", true), ("http://h/a%2Fb", "http://h/a/b", false),
            ("http://h/a?x=%41&y=a+b", "http://h/a?y=a%20b&x=A", true),
            ("http://h/a?x=%2541", "http://h/a?x=%41", false),
            ("http://h/a?x=1&x=2", "http://h/a?x=2&x=1", true), ("http://h/a?x=1&x=1", "http://h/a?x=1", false),
            ("http://h/a?x=1", "http://h/a", false), ("http://h/a?", "http://h/a", true),
            ("http://h/a", "http://h/a#f", true),
            ("http://h/a?x=a%26y=2", "http://h/a?x=a&y=2", false), ("http://h/a+b", "http://h/a%20b", false),
        ]
    )
    func urls(live: String, recorded: String, isMatch: Bool) async throws {
        #expect(try await matches(request(live), request(recorded), [.url]) == isMatch)
    }

    @Test(
        "a part that is not listed does not count",
        arguments: [
            (RequestMatching.Part.method, false), (.scheme, false), (.host, false), (.port, false), (.path, false),
            (.query(), false), (.body, false), (.header(.accept), false), (.custom("any") { _, _ in true }, true),
        ]
    )
    func parts(part: RequestMatching.Part, isMatch: Bool) async throws {
        let live = request("http://h:1/a?x=1", "POST", body: "1", headers: [.accept: "a"])
        let recorded = request("https://g:2/b?x=2", "PUT", body: "2", headers: [.accept: "b"])
        #expect(try await matches(live, recorded, [part]) == isMatch)
        #expect(try await matches(live, recorded, []))
        #expect(try await matches(live, live, [part]))
    }

    @Test(
        "the order of a query counts when asked, and names can be left out",
        arguments: [
            (RequestMatching.Part.query(.same), "x=1&y=2", "y=2&x=1", false),
            (.query(.any), "x=1&y=2", "y=2&x=1", true),
            (.query(ignoring: ["y"]), "x=1&y=2", "x=1&y=3", true),
            (.query(ignoring: ["y"]), "x=1&y=2", "x=2&y=2", false),
            (.query(ignoring: ["a b"]), "a%20b=1", "a+b=2", true),
        ]
    )
    func queries(part: RequestMatching.Part, live: String, recorded: String, isMatch: Bool) async throws {
        #expect(try await matches(request("http://h/?" + live), request("http://h/?" + recorded), [part]) == isMatch)
    }

    @Test(
        "bodies are compared as their form means them",
        arguments: [
            (RequestMatching.BodyForm.json, "", "{\"a\": 1, \"b\": [1.0, 2]}", "{\"b\":[1,2],\"a\":1}", true),
            (.json, "", "{\"a\": 1}", "{\"a\": 2}", false), (.json, "", "[1,2]", "[2,1]", false),
            (.json, "", "{\"a\":\"\\u00e9\"}", "{\"a\":\"\u{e9}\"}", true), (.json, "", "no json", "no json", true),
            (.bytes, "application/json", "{\"a\": 1}", "{\"a\":1}", false), (.form, "", "a=1&b=2", "b=2&a=1", true),
            (.form, "", "a=1&b=2", "a=1&b=3", false), (.automatic, "application/json", "{\"a\": 1}", "{\"a\":1}", true),
            (.automatic, "application/vnd.x+json; charset=utf-8", "{\"a\": 1}", "{\"a\":1}", true),
            (.automatic, "application/x-www-form-urlencoded", "a=1&b=2", "b=2&a=1", true),
            (.automatic, "text/plain", "a=1&b=2", "b=2&a=1", false), (.automatic, "", "{\"a\": 1}", "{\"a\":1}", false),
        ]
    )
    func bodies(
        form: RequestMatching.BodyForm,
        type: String,
        live: String,
        recorded: String,
        isMatch: Bool
    ) async throws {
        let live = request("http://h/", "POST", type: type, body: live)
        let recorded = request("http://h/", "POST", type: type, body: recorded)
        #expect(try await matches(live, recorded, [.body(form)]) == isMatch)
    }

    @Test("no body equals one of no bytes, and not another")
    func noBody() async throws {
        #expect(try await matches(request(), request(body: ""), .standard))
        #expect(try await !matches(request("http://h/", "POST", body: "x"), request("http://h/", "POST"), .standard))
    }

    @Test(
        "a multipart body is compared without its boundary",
        arguments: [
            ("--A", "one", true), ("--A", "two", false), ("--AB", "one", true),
        ]
    )
    func multipart(boundary: String, content: String, isMatch: Bool) async throws {
        func body(_ boundary: String, _ content: String) -> RecordedExchange.Request {
            let part = "Content-Disposition: form-data; name=\"a\"\r\n\r\n\(content)"
            let text = "--\(boundary)\r\n\(part)\r\n--\(boundary)\r\n\(part)\r\n--\(boundary)--\r\n"
            return request("http://h/", "POST", type: "multipart/form-data; boundary=\"\(boundary)\"", body: text)
        }
        #expect(try await matches(body("x1", "one"), body(boundary, content), .standard) == isMatch)
    }

    @Test("a request body in a content coding is compared decoded")
    func coded() async throws {
        let text = "{\"a\": 1}"
        let headers: HTTPFields = [.contentEncoding: "gzip", .contentType: "application/json"]
        var live = request("http://h/", "POST", headers: headers)
        live.body = Deflate.gzip(Data(text.utf8))
        #expect(try await matches(live, request("http://h/", "POST", body: "{\"a\":1}", headers: headers), .standard))
    }

    @Test("a closure compares redacted requests, and chooses among the entries that are alike otherwise")
    func closure() async throws {
        let bench = try RecordingBench()
        var file = HARFile()
        for (number, value) in ["x", "y", "x"].enumerated() {
            let recorded = request("https://api.example/?k=\(value)", headers: [.authorization: "Bearer canary-1"])
            file.append(
                HAREntry(
                    RecordedExchange(request: recorded, response: .init(status: 200, body: Data("\(number)".utf8)))
                )
            )
        }
        try file.write(to: bench.file)
        let matching: RequestMatching = [
            .method,
            .custom("key") { live, recorded in
                #expect(live.headers[.authorization] == "Bearer REDACTED")
                #expect(recorded.headers[.authorization] == "Bearer REDACTED")
                return live.url == recorded.url
            },
        ]
        let replay = try ReplayTransport(bench.file, matching: matching)
        func provider(_ value: String) -> Provider<Probe> {
            bench.provider(replay) { request in
                request.appendQuery("k=\(value)")
                request.headers[.authorization] = "Bearer canary-2"
            }
        }
        #expect(try await provider("y").request(bench.target()).data == Data("1".utf8))
        #expect(try await provider("x").request(bench.target()).data == Data("0".utf8))
        #expect(try await provider("x").request(bench.target()).data == Data("2".utf8))
        #expect(try await provider("x").failureCode(bench.target()) == .usedUp)
        let failure = try await provider("z").failure(bench.target())
        #expect(failure?.reason.contains("method ok, key differs") == true)
    }

    @Test("lists can be joined")
    func joined() async throws {
        let matching = RequestMatching.standard + [.header(.accept)]
        #expect(try await !matches(request(headers: [.accept: "a"]), request(), matching))
        #expect(try await matches(request(headers: [.accept: "a"]), request(), .standard))
    }
}
