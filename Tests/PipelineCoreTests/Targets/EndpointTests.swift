import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Endpoint", .watched)
struct EndpointTests {
    static let urls: [(String, String, String)] = [
        ("http://example.com/123/somepath?X-ABC-Asd=123", "", "/123/somepath?X-ABC-Asd=123"),
        ("http://example.com", "", "/"),
        ("http://example.com", "/endpoint", "/endpoint"),
        ("https://api.github.com/", "/zen", "/zen"),
        ("https://example.com/v1/", "users", "/v1/users"),
        ("https://example.com/v1?key=a%20b+c", "/users", "/v1/users?key=a%20b+c"),
        ("https://example.com/caf%C3%A9", "like%20this", "/caf%C3%A9/like%20this"),
        ("https://example.com", "like this#", "/like%20this%23"),
        ("https://example.com", "https://evil.example/", "/https://evil.example/"),
    ]

    @Test(
        "M4 M5 The endpoint's URL joins the base URL and the path",
        arguments: [
            ("https://example.com", "", "https://example.com"),
            ("https://example.com", "/zen", "https://example.com/zen"),
            ("http://example.com/123/somepath?X-ABC-Asd=123", "", "http://example.com/123/somepath?X-ABC-Asd=123"),
        ]
    )
    func urlOfTarget(base: String, path: String, url: String) throws {
        #expect(Endpoint(try SampleTarget(base) { $0.path = path }).url == url)
    }

    @Test("M4 M5 B-M18 A request's URL joins the target's base URL and path", arguments: urls)
    func url(_ base: String, _ path: String, _ expected: String) throws {
        let target = try SampleTarget(base) { $0.path = path }
        let head = try Endpoint(target).makeRequest().head
        #expect(head.path == expected)
        #expect(head.authority == target.baseURL.host())
        #expect(head.scheme == target.baseURL.scheme)
    }

    @Test(
        "An endpoint has a request's origin only if scheme, host and port are the same",
        arguments: [
            ("https://api.example.com", "https://api.example.com/v1", true),
            ("https://api.example.com", "https://api.example.com", true),
            ("https://api.example.com", "https://api.example.com?q", true),
            ("https://api.example.com", "https://API.example.com:443/v1", true),
            ("https://api.example.com:8443", "https://api.example.com:8443#top", true),
            ("https://api.example.com", "http://api.example.com/v1", false),
            ("https://api.example.com", "https://api.example.com.evil.example/v1", false),
            ("https://api.example.com", "https://api.example.com:8443/v1", false),
            ("https://api.example.com", "https://api.example.com@evil.example/v1", false),
            ("https://api.example.com", "https://evil.example/https://api.example.com", false),
            ("https://api.example.com", "https://api.example.co", false),
            ("https://api.example.com", "", false),
        ]
    )
    func origin(ofRequest url: String, ofEndpoint text: String, isSame: Bool) throws {
        let request = try PipelineRequest(url: url)
        #expect(Endpoint(url: text).hasOrigin(of: request) == isSame)
        guard !text.contains("?"), !text.contains("#"), !text.isEmpty else { return }
        #expect(Endpoint(try SampleTarget(text) { $0.path = "/path" }).hasOrigin(of: request) == isSame)
    }

    @Test("M1 M3 M13 An endpoint takes everything from its target")
    func fromTarget() throws {
        let target = try SampleTarget {
            $0.method = .put
            $0.headers = ["X-A": "1"]
            $0.task = .requestData(Data("x".utf8))
        }
        let endpoint = Endpoint(target)
        #expect(endpoint.url == "https://example.com/path")
        #expect(endpoint.method == .put)
        #expect(endpoint.httpHeaderFields == ["X-A": "1"])
        #expect(try endpoint.makeRequest().body.bytes == Data("x".utf8))
    }

    @Test("M73 Adding header fields makes a copy and replaces fields of the same name")
    func addingFields() {
        let endpoint = Endpoint(url: "https://h", httpHeaderFields: ["A": "1", "B": "2"])
        #expect(
            endpoint.adding(newHTTPHeaderFields: ["B": "3", "C": "4"]).httpHeaderFields == [
                "A": "1", "B": "3", "C": "4",
            ]
        )
        #expect(endpoint.httpHeaderFields == ["A": "1", "B": "2"])
    }

    @Test("M73 Adding no fields changes nothing, even if there are none")
    func addingNothing() {
        #expect(Endpoint(url: "https://h").adding(newHTTPHeaderFields: [:]).httpHeaderFields == nil)
        #expect(
            Endpoint(url: "https://h", httpHeaderFields: [:]).adding(newHTTPHeaderFields: [:]).httpHeaderFields == [:]
        )
    }

    @Test("B-M39 An added field replaces one whose name differs only in case")
    func addingIgnoresCase() {
        let endpoint = Endpoint(url: "https://h", httpHeaderFields: ["content-type": "a", "CONTENT-TYPE": "b"])
        #expect(endpoint.adding(newHTTPHeaderFields: ["Content-Type": "c"]).httpHeaderFields == ["Content-Type": "c"])
    }

    @Test("B-M39 Of two added names that differ only in case, the same one is always kept", arguments: 0..<20)
    func addingBothCases(_ number: Int) {
        let added = Endpoint(url: "https://h").adding(newHTTPHeaderFields: [
            "x-\(number)": "lower", "X-\(number)": "upper",
        ])
        #expect(added.httpHeaderFields == ["x-\(number)": "lower"])
    }

    @Test("B-M39 Of two fields that differ only in case, the same one is always sent", arguments: 0..<20)
    func bothCases(_ number: Int) throws {
        let endpoint = Endpoint(
            url: "https://h",
            httpHeaderFields: ["x-\(number)": "lower", "X-\(number)": "upper", "A": "1"]
        )
        let fields = try endpoint.makeRequest().headers
        #expect(fields.map { "\($0.name.rawName): \($0.value)" } == ["A: 1", "x-\(number): lower"])
    }

    @Test("Header fields are sent in the order of their names")
    func fieldOrder() throws {
        let endpoint = Endpoint(url: "https://h", httpHeaderFields: ["b": "2", "C": "3", "a": "1", "D": ""])
        #expect(try endpoint.makeRequest().headers.map(\.name.rawName) == ["a", "b", "C", "D"])
    }

    @Test("M74 Replacing the task makes a copy with another task")
    func replacingTask() throws {
        let endpoint = Endpoint(url: "https://h", method: .post, task: .requestData(Data("a".utf8)))
        #expect(try endpoint.replacing(task: .requestData(Data("b".utf8))).makeRequest().body.bytes == Data("b".utf8))
        #expect(try endpoint.makeRequest().body.bytes == Data("a".utf8))
    }

    @Test("A provider's endpoint closure changes the request that is sent")
    func endpointClosure() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<SampleTarget>(transport: transport) { target in
            var endpoint = Endpoint(target).adding(newHTTPHeaderFields: ["X-App": "shop"])
            endpoint.url += "/more"
            return endpoint
        }
        _ = try await provider.request(SampleTarget())
        #expect(transport.sent.first?.head.path == "/path/more")
        #expect(transport.sent.first?.headers.map(\.name.rawName) == ["X-App"])
    }

    @Test("M80 Without a sample response, a stub responds with 200 and the target's sample data")
    func sampleData() async throws {
        let provider = Provider<SampleTarget>(transport: StubTransport())
        let response = try await provider.request(SampleTarget { $0.sampleData = Data("zen".utf8) })
        #expect(response.statusCode == 200)
        #expect(try response.mapString() == "zen")
    }

    static let refused: [(Endpoint, PipelineError.Code)] = [
        (Endpoint(url: ""), .invalidRequest(.url)),
        (Endpoint(url: "some invalid URL"), .invalidRequest(.url)),
        (Endpoint(url: "/relative/CANARY"), .invalidRequest(.url)),
        (Endpoint(url: "https://h/?CANARY\r\nX: y"), .invalidRequest(.url)),
        (Endpoint(url: "ftp://h/CANARY"), .invalidRequest(.scheme)),
        (Endpoint(url: "https://user:CANARY@h/"), .invalidRequest(.userInfo)),
        (Endpoint(url: "https://h", httpHeaderFields: ["": "CANARY"]), .invalidRequest(.headerName)),
        (Endpoint(url: "https://h", httpHeaderFields: ["X Y": "CANARY"]), .invalidRequest(.headerName)),
        (Endpoint(url: "https://h", httpHeaderFields: ["X\r\nY": "CANARY"]), .invalidRequest(.headerName)),
        (Endpoint(url: "https://h", httpHeaderFields: ["Authorization: CANARY": "v"]), .invalidRequest(.headerName)),
        (Endpoint(url: "https://h", httpHeaderFields: ["É": "CANARY"]), .invalidRequest(.headerName)),
        (Endpoint(url: "https://h", httpHeaderFields: ["X": "CANARY\r\nY: z"]), .invalidRequest(.headerValue)),
        (Endpoint(url: "https://h", httpHeaderFields: ["X": "CANARY\n"]), .invalidRequest(.headerValue)),
        (Endpoint(url: "https://h", httpHeaderFields: ["X": "CANARY\u{0}"]), .invalidRequest(.headerValue)),
        (Endpoint(url: "https://h", httpHeaderFields: ["X": "CANARY\u{7f}"]), .invalidRequest(.headerValue)),
    ]

    @Test(
        "M29 Q01 Q02 Q04 Q08 An invalid endpoint fails without showing the value, and the next call works",
        arguments: 0..<refused.count
    )
    func refusal(_ row: Int) async throws {
        let (endpoint, code) = Self.refused[row]
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<SampleTarget>(transport: transport) { $0.path.isEmpty ? endpoint : Endpoint($0) }
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(SampleTarget { $0.path = "" })
        }
        #expect(error?.code == code)
        #expect(error?.description.contains("CANARY") == false)
        #expect(transport.sent.isEmpty)
        #expect(try await provider.request(SampleTarget()).statusCode == 200)
    }

    @Test("Q02 The error for an invalid header name shows the valid part")
    func badName() {
        let endpoint = Endpoint(url: "https://h", httpHeaderFields: ["X-Trace Id": "v"])
        let error = #expect(throws: PipelineError.self) { try endpoint.makeRequest() }
        #expect(error?.reason.contains("\"X-Trace\"") == true)
    }

    @Test("Q01 The error for an invalid header value names the field")
    func badValue() {
        let endpoint = Endpoint(url: "https://h", httpHeaderFields: ["X-Trace": "a\nb"])
        let error = #expect(throws: PipelineError.self) { try endpoint.makeRequest() }
        #expect(error?.reason.contains("\"X-Trace\"") == true)
    }

    @Test("Q03 A method that is not a token cannot be created", arguments: ["", "GET /", "GET\r\n", "G\u{0}T", "É"])
    func methods(_ text: String) {
        #expect(HTTPRequest.Method(text) == nil)
    }

    @Test("M7 A custom method is sent as written")
    func customMethod() throws {
        let method = try #require(HTTPRequest.Method("pUrge"))
        #expect(try Endpoint(url: "https://h", method: method).makeRequest().method.rawValue == "pUrge")
    }

    @Test("An endpoint closure's PipelineError is thrown as is; another error is wrapped in one that names it")
    func throwingClosure() async throws {
        struct Unknown: Error {}
        let typed = Provider<SampleTarget>(transport: StubTransport()) { _ in throw PipelineError(.offline, "no") }
        #expect(await #expect(throws: PipelineError.self) { try await typed.request(SampleTarget()) }?.code == .offline)
        let other = Provider<SampleTarget>(transport: StubTransport()) { _ in throw Unknown() }
        let error = await #expect(throws: PipelineError.self) { try await other.request(SampleTarget()) }
        #expect(error?.underlyingError is Unknown)
        #expect(error?.reason.contains("Unknown") == true)
    }

    @Test("F06: descriptions and dumps of an endpoint and a context show no query, header value or user name")
    func descriptions() async throws {
        let endpoint = Endpoint(
            url: "https://canary:canary@example.com/a?token=canary#canary",
            httpHeaderFields: ["Authorization": "canary"]
        )
        var text = "\(endpoint)"
        dump(endpoint, to: &text)
        #expect(text.contains("example.com/a"))
        #expect(!text.contains("canary"))

        let seen = Journal()
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [
                .prepare { _, context in
                    var text = "\(context)"
                    dump(context, to: &text)
                    seen.add(text)
                }
            ]
        )
        _ = try await provider.request(TestTarget(headers: ["Authorization": "canary"]))
        #expect(seen.entries.first?.contains("call 1, attempt 1") == true)
        #expect(seen.entries.first?.contains("canary") == false)
    }
}
