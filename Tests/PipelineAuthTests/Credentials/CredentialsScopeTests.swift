import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("CredentialsPlugin: origins, bodies, neighbours, errors", .tags(.concurrent), .realTime, .watched)
struct CredentialsScopeTests {
    private struct Refused: Error {}

    private static let mufasa = PasswordCredential(username: "Mufasa", password: "Circle of Life")
    private let plugin = CredentialsPlugin { _ in mufasa }
    private static let asking = HTTPFields([HTTPField(name: .wwwAuthenticate, value: "Basic realm=r")])

    private let transport = ScriptedTransport([.status(401, headers: asking), .status(200)])

    private func sent(_ transport: ScriptedTransport) -> [String] {
        transport.sent.map { request in
            let scheme = request.headers[.authorization]?.prefix { $0 != " " } ?? "-"
            return "\(request.method) \(request.host ?? "")\(request.path) \(scheme)"
        }
    }

    // MARK: Origins

    @Test("Q07 A 401 from another origin, or after a redirect through one, is returned, and the closure does not run")
    func redirected() async throws {
        let plugin = CredentialsPlugin { _ in throw Refused() }
        for locations in [["https://b.test/"], ["https://a.test:444/"], ["https://b.test/", "https://a.test/back"]] {
            let steps = locations.map { ScriptedTransport.Step.status(302, headers: [.location: $0]) }
            let transport = ScriptedTransport(steps + [.status(401, headers: Self.asking)])
            let response = try await Provider<Ask>(transport: transport, plugins: [plugin]).request(Ask())
            #expect(response.statusCode == 401)
            #expect(transport.sent.count == locations.count + 1)
        }
    }

    @Test("Q07 A request whose origin another plugin changed is untouched")
    func led() async throws {
        let leading = PluginStack.prepare { request, _ in request.head.authority = "b.test" }
        let plugins: [any PluginType] = [leading, CredentialsPlugin { _ in throw Refused() }]
        let response = try await Provider<Ask>(transport: transport, plugins: plugins).request(Ask())
        #expect(response.statusCode == 401)
        let inside = try await Provider<Ask>(
            transport: ScriptedTransport([.status(401, headers: Self.asking)]),
            plugins: Array(plugins.reversed())
        ).request(Ask())
        #expect(inside.statusCode == 401)
    }

    @Test("Q07 A call of another endpoint sends no Authorization ahead to an origin with a known challenge")
    func ledToKnownSpace() async throws {
        let leading = PluginStack.prepare { request, _ in request.head.authority = "b.test" }
        let transport = ScriptedTransport(DigestServer())
        let provider = Provider<Ask>(transport: transport, plugins: [leading, plugin])
        #expect(try await provider.request(Ask(url: "https://b.test")).statusCode == 200)
        #expect(try await provider.request(Ask(url: "https://a.test")).statusCode == 401)
        #expect(sent(transport) == ["GET b.test/b -", "GET b.test/b Digest", "GET b.test/b -"])
    }

    @Test("If a redirect within the origin leads to a challenge, the request of that hop is retried")
    func redirectWithin() async throws {
        let server = DigestServer()
        let transport = ScriptedTransport { request, _ in
            if request.path == "/b" { return .status(302, headers: [.location: "/end?x=1"]) }
            let (status, fields) = server.answer(request)
            return .status(status, headers: fields)
        }
        let fields = ["Content-Type": "text/plain", "X-App": "shop"]
        let target = Ask(method: .post, task: .requestData(Data("body".utf8)), headers: fields)
        let response = try await Provider<Ask>(transport: transport, plugins: [plugin]).request(target)
        #expect(response.statusCode == 200)
        #expect(sent(transport) == ["POST a.test/b -", "GET a.test/end -", "GET a.test/end Digest"])
        #expect(transport.sent.last?.query == "x=1")
        #expect(transport.sent.last?.body.isAbsent == true)
        #expect(transport.sent.last?.headers[.contentType] == nil)
        #expect(transport.sent.last?.headers.contains { $0.value == "shop" } == true)
    }

    @Test("Authorization is dropped when a redirect leaves the origin, and the field is marked as secret")
    func leaving() async throws {
        let transport = ScriptedTransport([
            .status(401, headers: Self.asking), .status(302, headers: [.location: "https://b.test/"]), .status(200),
        ])
        _ = try await Provider<Ask>(transport: transport, plugins: [plugin]).request(Ask())
        #expect(sent(transport) == ["GET a.test/b -", "GET a.test/b Basic", "GET b.test/ -"])
        #expect(transport.sent[1].secretFields == [.authorization])
    }

    // MARK: Bodies

    @Test("A request whose body cannot be replayed is not retried, and the 401 is returned")
    func notReplayable() async throws {
        let once = PluginStack.prepare { request, _ in
            request.body = .stream(AsyncStream { $0.finish() })
        }
        let asked = Atomic(0)
        let plugin = CredentialsPlugin { _ in
            asked.add(1, ordering: .relaxed)
            return Self.mufasa
        }
        let provider = Provider<Ask>(transport: transport, plugins: [once, plugin])
        #expect(try await provider.request(Ask(method: .post)).statusCode == 401)
        #expect(transport.sent.count == 1)
        let count = asked.load(ordering: .relaxed)
        #expect(count == 0)
    }

    @Test("A replayable body is sent in full each time")
    func replayed() async throws {
        let target = Ask(method: .post, task: .requestData(Data("body".utf8)))
        _ = try await Provider<Ask>(transport: transport, plugins: [plugin]).request(target)
        #expect(transport.sent.map(\.body.bytes) == [Data("body".utf8), Data("body".utf8)])
    }

    @Test("R09 The body of a 401 that stalls is closed after one second, before the request is retried")
    func closed() async throws {
        let isClosed = Atomic(false)
        let isClosedBefore = Mutex<Bool?>(nil)
        let transport = ScriptedTransport { _, index in
            guard index == 0 else {
                isClosedBefore.withLock { $0 = isClosed.load(ordering: .acquiring) }
                return .status(200, body: "in")
            }
            return .answer { request, _ in
                let chunks = AsyncStream<Data> { continuation in
                    continuation.onTermination = { _ in isClosed.store(true, ordering: .releasing) }
                }
                let head = HTTPResponse(status: .unauthorized, headerFields: Self.asking)
                return PipelineResponse(request: request, head: head, body: .stream(chunks))
            }
        }
        let clock = ManualClock()
        let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
        let call = Task { try await provider.stream(Ask()).statusCode }
        #expect(try await clock.advanceToNextSleeper() == .seconds(1))
        #expect(try await call.value == 200)
        #expect(isClosedBefore.withLock { $0 } == true)
    }

    @Test("Streamed and downloaded responses arrive complete after a challenge")
    func streamed() async throws {
        let server = DigestServer()
        let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        let transport = ScriptedTransport { request, _ in
            let (status, fields) = server.answer(request)
            return .status(status, headers: fields, body: .bytes(status == 200 ? content : Data("no".utf8)))
        }
        let provider = Provider<Ask>(transport: transport, plugins: [CredentialsPlugin { _ in Self.mufasa }])
        var data = Data()
        for try await chunk in try await provider.stream(Ask()).body { data.append(chunk) }
        #expect(data == content)
        let file = FileManager.default.temporaryDirectory.appending(path: "credentials-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let fresh = Provider<Ask>(transport: transport, plugins: [CredentialsPlugin { _ in Self.mufasa }])
        _ = try await fresh.request(Ask(task: .downloadDestination(.file(file))))
        #expect(try Data(contentsOf: file) == content)
    }

    // MARK: Position

    @Test("An Authorization that was set elsewhere stays, outside and inside, and its 401 is returned")
    func neighbours() async throws {
        let token = AccessTokenPlugin { _ in "t" }
        let basicAuth = BasicAuthPlugin(username: "u", password: "p")
        let plugin = CredentialsPlugin { _ in throw Refused() }
        let stacks: [[any PluginType]] = [
            [token, plugin], [plugin, token], [basicAuth, plugin], [plugin, basicAuth], [plugin],
        ]
        for (number, plugins) in stacks.enumerated() {
            let transport = ScriptedTransport(always: .status(401, headers: Self.asking))
            let headers = number == 4 ? ["Authorization": "own"] : [:]
            let target = Ask(headers: headers, authorizationType: number < 2 ? .bearer : nil)
            let response = try await Provider<Ask>(transport: transport, plugins: plugins).request(target)
            #expect(response.statusCode == 401)
            #expect(sent(transport) == ["GET a.test/b " + ["Bearer", "Bearer", "Basic", "Basic", "own"][number]])
        }
    }

    @Test("Digest covers the changes of all plugins of the call, and of exchange plugins outside CredentialsPlugin")
    func changedURL() async throws {
        let plugin = CredentialsPlugin { _ in Self.mufasa }
        let prepare = PluginStack.prepare { request, _ in request.appendQuery("key=1") }
        let exchange = PluginStack.exchange { request, _, send in
            var request = request
            request.appendQuery("key=1")
            return try await send(request)
        }
        let stacks: [([any PluginType], Int)] = [
            ([prepare, plugin], 200), ([plugin, prepare], 200), ([exchange, plugin], 200), ([plugin, exchange], 401),
        ]
        for (plugins, status) in stacks {
            let provider = Provider<Ask>(transport: ScriptedTransport(DigestServer()), plugins: plugins)
            #expect(try await provider.request(Ask()).statusCode == status)
        }
    }

    @Test("A plugin that retries outside CredentialsPlugin does not see the challenge")
    func insideRetry() async throws {
        let seen = Mutex<[Int]>([])
        let again = PluginStack.intercept { request, _, next in
            for _ in 1...2 {
                let status = try await next(request).statusCode
                seen.withLock { $0.append(status) }
            }
            return try await next(request)
        }
        let server = DigestServer()
        let plugin = CredentialsPlugin { _ in Self.mufasa }
        let provider = Provider<Ask>(transport: ScriptedTransport(server), plugins: [again, plugin])
        #expect(try await provider.request(Ask()).statusCode == 200)
        #expect(seen.withLock { $0 } == [200, 200])
        #expect(server.seen.nonces == ["n1": [1, 2, 3]])
    }

    @Test("An exchange plugin outside sees neither Authorization nor the challenge; one inside sees both")
    func seen() async throws {
        let seen = Mutex<[String]>([])
        func noting(_ name: String) -> any PluginType {
            PluginStack.exchange(name: name) { request, _, send in
                let hasAnswer = request.headers.contains(.authorization)
                let response = try await send(request)
                seen.withLock { $0.append("\(name) \(hasAnswer) \(response.statusCode)") }
                return response
            }
        }
        let plugins = [noting("outside"), CredentialsPlugin { _ in Self.mufasa }, noting("inside")]
        _ = try await Provider<Ask>(transport: ScriptedTransport(DigestServer()), plugins: plugins).request(Ask())
        #expect(seen.withLock { $0 } == ["inside false 401", "inside true 200", "outside false 200"])
    }

    @Test(
        "Attempts and retries by an outer exchange plugin each have their own count; retries by an inner one share it",
        arguments: ["attempt", "outside", "inside"]
    )
    func numbers(again: String) async throws {
        let server = DigestServer()
        let plugin = CredentialsPlugin { _ in Self.mufasa }
        let attempts = PluginStack.intercept { request, _, next in
            _ = try await next(request)
            return try await next(request)
        }
        let sends = PluginStack.exchange { request, _, send in
            _ = try await send(request)
            return try await send(request)
        }
        let plugins: [any PluginType] =
            switch again {
            case "attempt": [plugin, attempts]
            case "outside": [sends, plugin]
            default: [plugin, sends]
            }
        _ = try await Provider<Ask>(transport: ScriptedTransport(server), plugins: plugins).request(Ask())
        #expect(server.seen.repeated == (again == "inside" ? ["n1 1"] : []))
    }

    // MARK: Errors

    private func failure(
        _ challenge: String,
        _ credential: PasswordCredential = mufasa,
        url: String = "https://a.test",
        cleartext: CleartextPolicy = .loopbackOnly
    ) async -> PipelineError? {
        let transport = ScriptedTransport([.status(401, headers: [.wwwAuthenticate: challenge]), .status(200)])
        let plugin = CredentialsPlugin(cleartext: cleartext) { _ in credential }
        do {
            _ = try await Provider<Ask>(transport: transport, plugins: [plugin]).request(Ask(url: url))
            return nil
        } catch {
            return error as? PipelineError
        }
    }

    @Test(
        "Q09 A credential that the scheme cannot carry is refused, and the error shows neither part",
        arguments: [
            ("Basic realm=r", "canary:x", "p"), ("Basic realm=r", "u", "canary\n"),
            ("Digest realm=r, nonce=n", "canary\n", "p"),
            ("Digest realm=r, nonce=n", "u", "canary\u{0}"),
        ]
    )
    func badCredential(challenge: String, username: String, password: String) async {
        let error = await failure(challenge, .init(username: username, password: password))
        #expect(error?.code == .invalidRequest(.credential))
        #expect(error?.plugin == "CredentialsPlugin")
        #expect(error?.exchanges.count == 1)
        var text = error.map { "\($0) \($0.localizedDescription)" } ?? ""
        dump(error, to: &text)
        #expect(!text.contains("canary"))
    }

    @Test("Basic is sent over http only to a loopback address or with `.allowed`, Digest to any host")
    func cleartext() async {
        #expect(await failure("Basic realm=r", url: "http://a.test")?.code == .invalidRequest(.credential))
        #expect(await failure("Basic realm=r", url: "http://127.0.0.1") == nil)
        #expect(await failure("Basic realm=r", url: "http://a.test", cleartext: .allowed) == nil)
        #expect(await failure("Digest realm=r, nonce=n", url: "http://a.test") == nil)
    }

    @Test("An error that the closure throws becomes the underlying error of code plugin")
    func closureThrows() async {
        let provider = Provider<Ask>(transport: transport, plugins: [CredentialsPlugin { _ in throw Refused() }])
        let error = await #expect(throws: PipelineError.self) { try await provider.request(Ask()) }
        #expect(error?.code == .plugin)
        #expect(error?.underlyingError is Refused)
        #expect(error?.exchanges.map(\.statusCode) == [401])
    }

    @Test("A call that is cancelled while the closure waits stops at once")
    func cancelled() async throws {
        let clock = ManualClock()
        let plugin = CredentialsPlugin { _ in
            try await clock.sleep(for: .seconds(60))
            return Self.mufasa
        }
        let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
        let call = Task { try await provider.request(Ask()) }
        try await clock.waitForSleepers()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(transport.sent.count == 1)
    }

    // MARK: Loopback

    @Test("Over real connections, the server sends a Digest challenge once per space", arguments: ["MD5", "SHA-256"])
    func loopback(algorithm: String) async throws {
        let digest = DigestServer(.init(user: "Zoë", algorithm: algorithm, more: ", userhash=true, charset=UTF-8"))
        let server = try LoopbackServer { request in
            let (status, fields) = digest.answer(
                method: request.method,
                target: request.target,
                request.values(of: "Authorization").first
            )
            let headers = fields.map { (name: $0.name.rawName, value: $0.value) }
            return [.respond(status, headers: headers, body: status == 200 ? "in" : "out")]
        }
        defer { server.stop() }
        let plugin = CredentialsPlugin { _ in .init(username: "Zoë", password: "Circle of Life") }
        let provider = Provider<Ask>(transport: URLSessionTransport(), plugins: [plugin])
        for path in ["/a%20b?c=d&e", "/"] {
            let target = Ask(
                url: server.url.absoluteString + path,
                path: "",
                method: .post,
                task: .requestData(Data("x".utf8))
            )
            #expect(try await provider.request(target).mapString() == "in")
        }
        #expect(server.requests.map { $0.values(of: "Authorization").count } == [0, 1, 1])
        #expect(digest.seen.repeated.isEmpty)
    }
}
