import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Redirects: rule 8", .watched)
struct RedirectPolicyTests {
    private func moved(_ location: String, status: Int = 302) -> ScriptedTransport.Step {
        .status(status, headers: [.location: location])
    }

    @Test("Rule 11 (R01): at most 20 redirects are followed, and a loop has another code than a long chain")
    func tooMany() async throws {
        let endless = ScriptedTransport { _, index in .status(302, headers: [.location: "/\(index)"]) }
        let error = await pipelineError { _ = try await Provider<TestTarget>(transport: endless).request(TestTarget()) }
        #expect(error?.code == .redirect(.tooMany))
        #expect(error?.response?.statusCode == 302)
        #expect(endless.sent.count == 21)
        #expect(error?.exchanges.count == 21)

        let loop = ScriptedTransport(always: moved("/v1/items"))
        let looped = await pipelineError { _ = try await Provider<TestTarget>(transport: loop).request(TestTarget()) }
        #expect(looped?.code == .redirect(.loop))
        #expect(loop.sent.count == 21)
    }

    @Test("Rule 11: a chain of exactly the allowed length succeeds")
    func longestChain() async throws {
        let transport = ScriptedTransport { _, index in
            index < 20 ? .status(301, headers: [.location: "/\(index)"]) : .status(200)
        }
        let response = try await Provider<TestTarget>(transport: transport).request(TestTarget())
        #expect(response.statusCode == 200)
        #expect(response.exchanges.map(\.hop) == Array(0...20))
        #expect(response.request.path == "/19")
    }

    @Test(
        "Rule 11 (R02): a redirect to another origin drops credentials and secret fields, and keeps the rest",
        arguments: [
            "http://api.example.com/x", "https://other.example.com/x", "https://api.example.com:8443/x",
            "//other.example.com/x",
        ]
    )
    func offOrigin(location: String) async throws {
        let transport = ScriptedTransport([moved(location), .status(200)])
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [secrets],
            configuration: .init(redirects: RedirectPolicy(allowsDowngrade: true))
        )
        _ = try await provider.request(TestTarget(headers: ["Accept": "text/plain", "Origin": "https://a.example"]))
        let names = transport.sent.map { $0.headers.map(\.name.canonicalName).sorted() }
        #expect(names == [Self.allNames, ["accept"]])
    }

    @Test(
        "Rule 11: a redirect within the origin keeps secrets",
        arguments: ["/x", "https://api.example.com:443/x", "https://API.example.com/x"]
    )
    func onOrigin(location: String) async throws {
        let transport = ScriptedTransport([moved(location), .status(200)])
        let provider = Provider<TestTarget>(transport: transport, plugins: [secrets])
        _ = try await provider.request(TestTarget(headers: ["Accept": "text/plain", "Origin": "https://a.example"]))
        #expect(transport.sent.last?.headers.map(\.name.canonicalName).sorted() == Self.allNames)
        #expect(transport.sent.last?.path == "/x")
    }

    @Test("Rule 11 (R03): dropped secrets do not return on a later hop, not even to the first origin")
    func secretsStayAway() async throws {
        let transport = ScriptedTransport([
            moved("https://b.example/1"), moved("/2"), moved("https://api.example.com/3"), .status(200),
        ])
        let provider = Provider<TestTarget>(transport: transport, plugins: [secrets])
        _ = try await provider.request(TestTarget())
        let withSecrets = transport.sent.map { $0.headers.contains(.authorization) || $0.headers.contains(.cookie) }
        #expect(withSecrets == [true, false, false, false])
        #expect(transport.sent.map { $0.headers.contains(Self.apiKey) } == [true, false, false, false])
    }

    private static let apiKey = HTTPField.Name("X-Api-Key") ?? .authorization
    private static let allNames = [
        "accept", "authorization", "cookie", "origin", "proxy-authorization", "x-api-key",
    ]

    private var secrets: any PluginType {
        .prepare { request, _ in
            try request.setHeader("Bearer canary", for: .authorization)
            try request.setHeader("a=canary", for: .cookie)
            try request.setHeader("Basic canary", for: .proxyAuthorization)
            try request.setHeader("canary", for: Self.apiKey, isSecret: true)
        }
    }

    @Test("Rule 11 (R04): a redirect from https to http is refused by default and returned with the reason")
    func downgrade() async throws {
        let refused = ScriptedTransport([moved("http://api.example.com/x"), .status(200)])
        let response = try await Provider<TestTarget>(transport: refused).request(TestTarget())
        #expect(response.statusCode == 302)
        #expect(response.exchanges.last?.refusedRedirect == .downgrade)
        #expect(refused.sent.count == 1)

        let upgraded = ScriptedTransport([moved("https://api.example.com/x"), .status(200)])
        let target = TestTarget(base: "http://api.example.com")
        #expect(try await Provider<TestTarget>(transport: upgraded).request(target).statusCode == 200)
    }

    @Test(
        "Rule 11 (R05): a Location that is not a valid http or https URL is refused; the redirect is the response",
        arguments: [
            "file:///etc/passwd", "javascript:alert(1)", "data:text/plain,x", "", "https://", "https://user:p@h/",
            "http:/x", "https://h:99999/",
        ]
    )
    func refusedLocation(location: String) async throws {
        let transport = ScriptedTransport([moved(location), .status(200)])
        let response = try await Provider<TestTarget>(transport: transport).request(TestTarget())
        #expect(response.statusCode == 302)
        #expect(response.exchanges.last?.refusedRedirect == .location)
        #expect(transport.sent.count == 1)
    }

    @Test("Rule 11 (R05): a redirect without a Location or with two is the response")
    func noLocation() async throws {
        var twice = HTTPFields()
        twice.append(HTTPField(name: .location, value: "/a"))
        twice.append(HTTPField(name: .location, value: "/b"))
        // Foundation joins two fields in this form.
        let joined: [HTTPFields] = ["/a, /b", "/a, b", "https://a.test/, https://b.test/"].map { [.location: $0] }
        for fields in [HTTPFields(), twice] + joined {
            let transport = ScriptedTransport(always: .status(301, headers: fields))
            #expect(try await Provider<TestTarget>(transport: transport).request(TestTarget()).statusCode == 301)
        }
    }

    @Test(
        "Rule 11 (R05): a relative Location is resolved against the request",
        arguments: [
            ("/x", "/x"), ("x", "/v1/x"), ("?q=1", "/v1/items?q=1"), ("#part", "/v1/items"), ("../x", "/x"),
            ("../../../x", "/x"), ("./x/./y", "/v1/x/y"), ("/ä b", "/%C3%A4%20b"), ("/a%2Fb", "/a%2Fb"),
            ("/a,b", "/a,b"), ("x:y", nil),
            ("/x:y", "/x:y"),
        ] as [(String, String?)]
    )
    func relative(location: String, path: String?) async throws {
        let transport = ScriptedTransport([moved(location), .status(200)])
        let response = try await Provider<TestTarget>(transport: transport).request(TestTarget())
        #expect(transport.sent.dropFirst().first?.head.path == path)
        #expect(response.statusCode == (path == nil ? 302 : 200))
    }

    @Test(
        "Rule 11 (R06): the method after a redirect follows RFC 9110 §15.4, and a change to GET drops the body",
        arguments: [
            (301, HTTPRequest.Method.post, HTTPRequest.Method.get), (302, .post, .get), (303, .post, .get),
            (303, .put, .get),
            (303, .head, .head), (301, .put, .put), (302, .delete, .delete), (301, .head, .head), (307, .post, .post),
            (308, .post, .post), (308, .put, .put), (302, .get, .get),
        ]
    )
    func method(status: Int, before: HTTPRequest.Method, after: HTTPRequest.Method) async throws {
        let transport = ScriptedTransport([moved("/x", status: status), .status(200)])
        let hasBody = before != .get && before != .head
        let task = hasBody ? RequestTask.requestJSONEncodable(["a": 1]) : .requestPlain
        _ = try await Provider<TestTarget>(transport: transport).request(TestTarget(method: before, task: task))
        let last = try #require(transport.sent.last)
        #expect(last.method == after)
        let keepsBody = hasBody && after != .get
        #expect(last.body.isAbsent != keepsBody)
        #expect(last.headers.contains(.contentType) == keepsBody)
    }

    @Test("Rule 11 (R06): a change to GET drops all fields that describe the body")
    func bodyFields() async throws {
        let names = ["Content-Digest", "Repr-Digest", "Digest", "Content-MD5", "Content-Disposition", "Last-Modified"]
        let transport = ScriptedTransport([moved("/x", status: 303), .status(200)])
        let headers = Dictionary(uniqueKeysWithValues: (names + ["X-Kept"]).map { ($0, "v") })
        _ = try await Provider<TestTarget>(transport: transport).request(TestTarget(method: .post, headers: headers))
        #expect(transport.sent.first?.headers.count == names.count + 1)
        #expect(transport.sent.last?.headers.map(\.name.rawName) == ["X-Kept"])
    }

    @Test("Rule 11: an authority that a plugin wrote in capital letters, or with its default port, is the same origin")
    func writtenAuthority() async throws {
        for authority in ["API.example.com", "api.example.com:443"] {
            let transport = ScriptedTransport([moved("/x"), .status(200)])
            let plugins = [secrets, .prepare { request, _ in request.head.authority = authority }]
            _ = try await Provider<TestTarget>(transport: transport, plugins: plugins).request(TestTarget())
            #expect(transport.sent.last?.headers.contains(.authorization) == true)
        }
    }

    @Test(
        "Rule 11 (R06): a redirect that would resend a one-shot body is not followed; it is the response",
        arguments: [307, 308]
    )
    func oneShotBody(status: Int) async throws {
        let transport = ScriptedTransport([moved("/x", status: status), .status(200)])
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .prepare { request, _ in
                    let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
                    continuation.finish()
                    request.body = .stream(chunks)
                }
            ]
        )
        let response = try await provider.request(TestTarget(method: .post))
        #expect(response.statusCode == status)
        #expect(response.exchanges.last?.refusedRedirect == .bodyNotReplayable)
        #expect(transport.sent.count == 1)
    }

    @Test("Rule 11 (R07): the endless body of a redirect is read only up to the limit")
    func endlessBody() async throws {
        let read = Journal()
        let endless = PipelineBody.stream(
            AsyncStream<Data> {
                read.add("chunk")
                return read.entries.count < 1_000 ? Data(count: 16 << 10) : nil
            }
        )
        let transport = ScriptedTransport([
            .status(302, headers: [.location: "/x"], body: endless), .status(200, body: "there"),
        ])
        let provider = Provider<TestTarget>(transport: transport, configuration: .init(clock: ManualClock()))
        let response = try await provider.request(TestTarget())
        #expect(try response.mapString() == "there")
        #expect(read.entries.count == 5)
    }

    @Test("Rule 11: the policy .never returns every redirect, and a filter can refuse a redirect")
    func policies() async throws {
        let transport = ScriptedTransport(always: moved("/x"))
        let none = Provider<TestTarget>(transport: transport, configuration: .init(redirects: .never))
        let response = try await none.request(TestTarget())
        #expect(response.statusCode == 302)
        #expect(response.exchanges.last?.refusedRedirect == .disabled)

        let filtered = Provider<TestTarget>(
            transport: transport,
            configuration: .init(redirects: RedirectPolicy { _, next in next.path != "/x" })
        )
        #expect(try await filtered.request(TestTarget()).exchanges.last?.refusedRedirect == .filter)
    }

    @Test("Rule 11: 300, 304, 305 and 306 are not followed as redirects", arguments: [300, 304, 305, 306])
    func notFollowed(status: Int) async throws {
        let transport = ScriptedTransport(always: moved("/x", status: status))
        #expect(try await Provider<TestTarget>(transport: transport).request(TestTarget()).statusCode == status)
        #expect(transport.sent.count == 1)
    }
}
