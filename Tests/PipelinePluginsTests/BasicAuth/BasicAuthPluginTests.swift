import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("BasicAuthPlugin", .tags(.concurrent), .realTime, .watched)
struct BasicAuthPluginTests {
    private struct Refused: Error {}

    private let transport = ScriptedTransport(always: .status(200))

    private func sent(
        _ target: Ask,
        options: RequestOptions = RequestOptions(),
        _ plugins: any PluginType...
    ) async throws -> PipelineRequest {
        _ = try await Provider<Ask>(transport: transport, plugins: plugins).request(target, options: options)
        return try #require(transport.sent.last)
    }

    private func failure(
        of target: Ask = Ask(),
        options: RequestOptions = RequestOptions(),
        _ plugin: BasicAuthPlugin
    ) async -> PipelineError? {
        let provider = Provider<Ask>(transport: transport, plugins: [plugin])
        return await #expect(throws: PipelineError.self) { try await provider.request(target, options: options) }
    }

    private func basic(_ text: String) -> String { "Basic " + Data(text.utf8).base64EncodedString() }

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        let violations = await PluginConformance { BasicAuthPlugin(username: "u", password: "p") }.run()
        #expect(violations == [])
    }

    // MARK: Effects

    @Test(
        "C14 The value is the Base64 of user name and password in UTF-8, Normalization Form C, with case preserved",
        arguments: [
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123£", "Basic dGVzdDoxMjPCow=="),
            ("Zoe\u{308}", "pa\u{308}ss", "Basic Wm/Dqzpww6Rzcw=="),
            ("Me@B.c", "a:b:c", "Basic TWVAQi5jOmE6Yjpj"),
            ("sk_live", "", "Basic c2tfbGl2ZTo="),
            ("", "p", "Basic OnA="),
            ("a", "\u{301}b", "Basic YTrMgWI="),
        ]
    )
    func value(username: String, password: String, value: String) async throws {
        let request = try await sent(Ask(), BasicAuthPlugin(username: username, password: password))
        #expect(request.headers[values: .authorization] == [value])
    }

    @Test("An existing Authorization stays, and the closure does not run", arguments: [true, false])
    func leavesOwn(isOwn: Bool) async throws {
        let count = Atomic(0)
        let plugin = BasicAuthPlugin { _ in
            count.add(1, ordering: .relaxed)
            return .init(username: "u", password: "p")
        }
        let request = try await sent(Ask(headers: isOwn ? ["authorization": "own"] : [:]), plugin)
        #expect(request.headers[values: .authorization] == [isOwn ? "own" : basic("u:p")])
        let asked = count.load(ordering: .relaxed)
        #expect(asked == (isOwn ? 0 : 1))
    }

    @Test("A request whose target has no credential is untouched")
    func noCredential() async throws {
        let asking = BasicAuthPlugin { target in
            (target as? Ask)?.path == "/in" ? .init(username: "u", password: "p") : nil
        }
        let request = try await sent(Ask(path: "/out", headers: ["Accept": "a"]), asking)
        #expect(request.headers == [.accept: "a"])
        #expect(request.secretFields.isEmpty)
        #expect(try await sent(Ask(path: "/in"), asking).headers == [.authorization: basic("u:p")])
        #expect(try await sent(Ask(), BasicAuthPlugin()).headers.isEmpty)
    }

    @Test("The option basicAuth overrides the plugin's credential and an existing Authorization")
    func option() async throws {
        let options = RequestOptions { $0.basicAuth = .init(username: "o", password: "p") }
        let target = Ask(headers: ["Authorization": "own"])
        for plugin in [BasicAuthPlugin(), BasicAuthPlugin { _ in throw Refused() }] {
            let request = try await sent(target, options: options, plugin)
            #expect(request.headers[values: .authorization] == [basic("o:p")])
        }
        #expect(try await sent(Ask(options: options), BasicAuthPlugin()).headers[.authorization] == basic("o:p"))
        #expect(RequestOptions().basicAuth == nil)
    }

    @Test(
        "Q07 A request whose origin another plugin changed is untouched, and the closure does not run",
        arguments: [("https", "b.test"), ("https", "a.test:444"), ("http", "a.test"), ("https", "a.test:443")]
    )
    func otherOrigin(scheme: String, authority: String) async throws {
        let options = RequestOptions { $0.basicAuth = .init(username: "o", password: "p") }
        let leading = PluginStack.prepare { request, _ in
            request.head.scheme = scheme
            request.head.authority = authority
        }
        let asking = BasicAuthPlugin(cleartext: .allowed) { _ in throw Refused() }
        let isOwn = authority == "a.test:443"
        let request = try await sent(Ask(), options: options, leading, asking)
        #expect(request.headers[.authorization] == (isOwn ? basic("o:p") : nil))
        guard !isOwn else { return }
        #expect(try await sent(Ask(), leading, asking).headers.isEmpty)
    }

    @Test("Nothing is kept between calls: the closure runs for each call")
    func asksAnew() async throws {
        let count = Atomic(0)
        let plugin = BasicAuthPlugin { _ in
            .init(username: "u\(count.add(1, ordering: .relaxed).newValue)", password: "")
        }
        for number in 1...3 {
            #expect(try await sent(Ask(), plugin).headers[.authorization] == basic("u\(number):"))
        }
    }

    // MARK: Position

    @Test(
        "Inside a plugin that retries, the closure runs for each attempt; outside it, once",
        arguments: [true, false]
    )
    func attempts(isInside: Bool) async throws {
        let count = Atomic(0)
        let plugin = BasicAuthPlugin { _ in
            .init(username: "u\(count.add(1, ordering: .relaxed).newValue)", password: "")
        }
        let again = PluginStack.intercept { request, _, next in
            _ = try await next(request)
            return try await next(request)
        }
        _ = isInside ? try await sent(Ask(), again, plugin) : try await sent(Ask(), plugin, again)
        let names = isInside ? ["u1:", "u2:"] : ["u1:", "u1:"]
        #expect(transport.sent.map { $0.headers[.authorization] } == names.map(basic))
    }

    @Test("A target that asks for a token gets it, inside and outside the token plugin", arguments: [true, false])
    func besideToken(isInside: Bool) async throws {
        let basicAuth = BasicAuthPlugin(username: "u", password: "p")
        let token = AccessTokenPlugin { _ in "t" }
        let plugins: [any PluginType] = isInside ? [token, basicAuth] : [basicAuth, token]
        let provider = Provider<Ask>(transport: transport, plugins: plugins)
        _ = try await provider.request(Ask(authorizationType: .bearer))
        _ = try await provider.request(Ask())
        #expect(transport.sent.map { $0.headers[values: .authorization] } == [["Bearer t"], [basic("u:p")]])
    }

    @Test("Of two plugins in a stack, the outer one's credential is sent")
    func two() async throws {
        let outer = BasicAuthPlugin(username: "outer", password: "")
        let inner = BasicAuthPlugin(username: "inner", password: "")
        #expect(try await sent(Ask(), outer, inner).headers[values: .authorization] == [basic("outer:")])
    }

    // MARK: Errors

    @Test("An error that the closure throws becomes the underlying error of code plugin, and nothing is sent")
    func closureThrows() async {
        let error = await failure(BasicAuthPlugin { _ in throw Refused() })
        #expect(error?.code == .plugin)
        #expect(error?.underlyingError is Refused)
        #expect(transport.sent.isEmpty)
    }

    @Test(
        "Q09 A colon in the user name or a control character is refused, and the error shows neither part",
        arguments: [
            ("canary:x", "p"), ("canary:\u{301}x", "p"), ("canary\r\nX: y", "p"), ("canary\u{0}", "p"),
            ("u", "canary\n"),
            ("u", "canary\u{7f}"), ("u", "canary\u{85}"),
        ]
    )
    func badCredential(username: String, password: String) async {
        let credential = PasswordCredential(username: username, password: password)
        for error in [
            await failure(BasicAuthPlugin(username: username, password: password)),
            await failure(options: RequestOptions { $0.basicAuth = credential }, BasicAuthPlugin()),
        ] {
            #expect(error?.code == .invalidRequest(.credential))
            var text = error.map { "\($0) \($0.localizedDescription)" } ?? ""
            dump(error, to: &text)
            #expect(!text.contains("canary"))
        }
        #expect(transport.sent.isEmpty)
    }

    @Test("A credential is sent over http only to a loopback address, or with `.allowed`")
    func cleartext() async throws {
        let plugin = BasicAuthPlugin(username: "u", password: "p")
        #expect(await failure(of: Ask(url: "http://a.test"), plugin)?.code == .invalidRequest(.credential))
        #expect(transport.sent.isEmpty)
        #expect(try await sent(Ask(url: "http://127.0.0.1:8"), plugin).headers[.authorization] == basic("u:p"))
        let open = BasicAuthPlugin(username: "u", password: "p", cleartext: .allowed)
        #expect(try await sent(Ask(url: "http://a.test"), open).headers[.authorization] == basic("u:p"))
        let some = BasicAuthPlugin { _ in nil }
        #expect(try await sent(Ask(url: "http://a.test"), some).headers.isEmpty)
    }

    @Test("Q08 A user name in the URL is refused, and not moved to Authorization")
    func userInfo() async {
        let error = await failure(
            of: Ask(url: "https://canary:pass@a.test"),
            BasicAuthPlugin(username: "u", password: "p")
        )
        #expect(error?.code == .invalidRequest(.userInfo))
        #expect(error.map { "\($0)".contains("canary") } == false)
        #expect(transport.sent.isEmpty)
    }

    // MARK: Secrets

    @Test(
        "The field is marked as secret, and dropped when a redirect leaves the origin",
        arguments: ["https://b.test/", "/c"]
    )
    func redirect(location: String) async throws {
        let transport = ScriptedTransport([.status(302, headers: [.location: location]), .status(200)])
        let plugin = BasicAuthPlugin(username: "u", password: "p")
        _ = try await Provider<Ask>(transport: transport, plugins: [plugin]).request(Ask())
        #expect(transport.sent.first?.secretFields == [.authorization])
        #expect(
            transport.sent.map { $0.headers[.authorization] } == [basic("u:p"), location == "/c" ? basic("u:p") : nil]
        )
    }

    @Test("Over a real connection the server gets the credential once")
    func loopback() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let plugin = BasicAuthPlugin(username: "Zoë", password: "p")
        let provider = Provider<Ask>(transport: URLSessionTransport(), plugins: [plugin])
        _ = try await provider.request(Ask(url: server.url.absoluteString))
        #expect(server.requests.map { $0.values(of: "Authorization") } == [[basic("Zoë:p")]])
    }
}
