import Foundation
import PipelineAuth
import PipelineMoya
import PipelineTesting
import TestSupport
import Testing

@Suite(.watched) struct MoyaAccessTokenPluginTests {
    private let plugin = PipelineMoya.AccessTokenPlugin { _ in "eyeAm.AJsOn.weBTOKEN" }
    private let request = URLRequest(url: URL(fileURLWithPath: "/"))

    @Test("M161: a target that is not authorizable, or has no type, is left alone", arguments: [true, false])
    func withoutType(isAuthorizable: Bool) {
        let target: any TargetType = isAuthorizable ? AuthorizedTarget() : PlainTarget()
        #expect(plugin.prepare(request, target: target).allHTTPHeaderFields ?? [:] == [:])
    }

    @Test(
        "M161, M162: the field has the type and the token, unchanged",
        arguments: [
            (AuthorizationType.bearer, "Bearer eyeAm.AJsOn.weBTOKEN"), (.basic, "Basic eyeAm.AJsOn.weBTOKEN"),
            (.custom("CustomType"), "CustomType eyeAm.AJsOn.weBTOKEN"),
        ]
    )
    func field(type: AuthorizationType, value: String) {
        for target in [
            AuthorizedTarget(authorizationType: type) as any TargetType,
            MultiTarget(AuthorizedTarget(authorizationType: type)),
        ] {
            let prepared = plugin.prepare(request, target: target)
            #expect(prepared.value(forHTTPHeaderField: "Authorization") == value)
        }
    }

    @Test("M163: the closure gets the target inside all wrappers")
    func innermostTarget() {
        let plugin = AccessTokenPlugin { "\(type(of: $0))" }
        let target = MultiTarget(MultiTarget(AuthorizedTarget(authorizationType: .bearer)))
        let field = plugin.prepare(request, target: target).value(forHTTPHeaderField: "Authorization")
        #expect(field == "Bearer AuthorizedTarget")
    }

    @Test("An existing Authorization is replaced")
    func replaced() {
        var request = request
        request.setValue("old", forHTTPHeaderField: "Authorization")
        let prepared = plugin.prepare(request, target: AuthorizedTarget(authorizationType: .bearer))
        #expect(prepared.value(forHTTPHeaderField: "Authorization") == "Bearer eyeAm.AJsOn.weBTOKEN")
    }

    @Test("A field value that ends with a space is sent without it, from a plugin and from a target")
    func emptyToken() async {
        let transport = ScriptedTransport(always: .status(200))
        let plugin = PipelineMoya.AccessTokenPlugin { _ in "" }
        let provider = MoyaProvider<AuthorizedTarget>(transport: transport, plugins: [plugin])
        _ = await provider.result(of: AuthorizedTarget(authorizationType: .bearer))
        _ = await provider.result(of: AuthorizedTarget(headers: ["Authorization": " Bearer\t"]))
        #expect(transport.sent.map { $0.header("Authorization") } == ["Bearer", "Bearer"])
    }

    @Test("M161: the token arrives at the transport, marked as secret")
    func sentToken() async {
        let transport = ScriptedTransport(always: .status(200))
        let provider = MoyaProvider<MyService>(transport: transport, plugins: [plugin])
        _ = await provider.result(of: .createUser(firstName: "a", lastName: "b"))
        _ = await provider.result(of: .showUser(id: 1))
        #expect(transport.sent.map { $0.header("Authorization") } == ["Bearer eyeAm.AJsOn.weBTOKEN", nil])
    }
}

@Suite(.watched) struct MoyaActivityPluginTests {
    @Test("M165: a request begins and ends, also if it is cancelled", arguments: [true, false])
    func activity(isCancelled: Bool) async {
        let log = CallLog()
        let plugin = NetworkActivityPlugin { change, target in log.add("\(change) \(target is PlainTarget)") }
        let transport = ScriptedTransport(always: isCancelled ? .hang : .status(200))
        let provider = MoyaProvider<PlainTarget>(transport: transport, plugins: [plugin])
        await withCheckedContinuation { continuation in
            let request = Handed(value: provider.request(PlainTarget()) { _ in continuation.resume() })
            if isCancelled {
                _Concurrency.Task {
                    try await transport.waitForRequests()
                    request.value.cancel()
                }
            }
        }
        #expect(log.entries == ["began true", "ended true"])
    }
}

@Suite(.watched) struct MoyaCredentialsPluginTests {
    @Test("M164: a credential answers a challenge and is not sent before")
    func challenge() async {
        let transport = ScriptedTransport([
            .status(401, headers: [.wwwAuthenticate: "Basic realm=\"x\""]), .status(200),
        ])
        let plugin = PipelineMoya.CredentialsPlugin { _ in
            URLCredential(user: "user", password: "pass", persistence: .none)
        }
        let provider = MoyaProvider<PlainTarget>(transport: transport, plugins: [plugin])
        #expect(await provider.result(of: PlainTarget()).text == "200")
        #expect(transport.sent.map { $0.header("Authorization") } == [nil, "Basic dXNlcjpwYXNz"])
    }

    @Test("M164: without a credential, the challenge is the response")
    func noCredential() async {
        let transport = ScriptedTransport([.status(401, headers: [.wwwAuthenticate: "Basic realm=\"x\""])])
        let plugin = PipelineMoya.CredentialsPlugin { _ in nil }
        let provider = MoyaProvider<PlainTarget>(transport: transport, plugins: [plugin])
        #expect(await provider.result(of: PlainTarget()).text == "401")
    }
}

@Suite(.watched) struct MoyaLoggerPluginTests {
    /// A request without a provider.
    struct FakeRequest: RequestType {
        var request: URLRequest?
        var sessionHeaders: [String: String] { ["X-Extra": "s", "Content-Type": "session"] }
        func authenticate(username: String, password: String, persistence: URLCredential.Persistence) -> FakeRequest {
            self
        }
        func authenticate(with credential: URLCredential) -> FakeRequest { self }
        func cURLDescription(calling handler: @escaping (String) -> Void) -> FakeRequest {
            handler("$ curl it")
            return self
        }
    }

    private let log = CallLog()

    private func plugin(_ options: NetworkLoggerPlugin.Configuration.LogOptions) -> NetworkLoggerPlugin {
        NetworkLoggerPlugin(
            configuration: .init(
                formatter: .init(entry: { identifier, message, _ in "\(identifier): \(message)" }),
                output: { [log] _, items in items.forEach(log.add) },
                logOptions: options
            )
        )
    }

    private func request() throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "https://example.com/zen?key=1")))
        request.httpMethod = "POST"
        request.httpBody = Data("cool body".utf8)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        return request
    }

    @Test("M168: the default logs methods and header fields; verbose adds all bodies")
    func options() {
        typealias Options = NetworkLoggerPlugin.Configuration.LogOptions
        #expect(Options.default.rawValue == 5)
        #expect(Options.verbose.rawValue == 55)
        #expect(Options.formatRequestAscURL.rawValue == 8)
        #expect(NetworkLoggerPlugin.default.configuration.logOptions == .default)
        #expect(NetworkLoggerPlugin.verbose.configuration.logOptions == .verbose)
    }

    @Test("M169: the entries of a request are URL, header fields, body and method, in this order")
    func requestEntries() throws {
        plugin(.verbose).willSend(FakeRequest(request: try request()), target: PlainTarget())
        let entries = log.entries
        #expect(entries.count == 4)
        #expect(entries[0].hasPrefix("Request: https://example.com/zen"))
        #expect(entries[1].hasPrefix("Request Headers: ["))
        #expect(entries[1].contains(#""Content-Type": "application/json""#))
        #expect(entries[1].contains(#""X-Extra": "s""#))
        #expect(entries[2] == "Request Body: cool body")
        #expect(entries[3] == "HTTP Request Method: POST")
    }

    @Test("M169: without options, only the URL is logged")
    func fewEntries() throws {
        plugin([]).willSend(FakeRequest(request: try request()), target: PlainTarget())
        #expect(log.entries.count == 1)
    }

    @Test("M170: a missing request is logged as invalid")
    func invalidRequest() {
        plugin(.verbose).willSend(FakeRequest(request: nil), target: PlainTarget())
        #expect(log.entries == ["Request: (invalid request)"])
    }

    @Test("M171: a cURL command is the only entry of a request")
    func curl() throws {
        plugin([.formatRequestAscURL, .requestMethod]).willSend(
            FakeRequest(request: try request()),
            target: PlainTarget()
        )
        #expect(log.entries == ["Request: $ curl it"])
    }

    @Test("M171: the command of a sent request reproduces it")
    func curlOfAProvider() async throws {
        let provider = MoyaProvider<PlainTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [plugin(.formatRequestAscURL)]
        )
        _ = await provider.result(of: PlainTarget(headers: ["A": "b"]))
        #expect(log.entries.first == "Request: $ curl -X GET -H 'A: b' 'https://example.com/endpoint'")
    }

    @Test("M114, M172: a response without header fields is logged as empty for its target")
    func emptyResponse() {
        let provider = MoyaProvider<GitHub>(stubClosure: MoyaProvider.immediatelyStub, plugins: [plugin(.default)])
        provider.request(.zen) { _ in }
        #expect(log.entries.last == "Response: Received empty network response for zen.")
    }

    @Test("M172: the body of a success and that of an error have separate options", arguments: [true, false])
    func bodies(isError: Bool) {
        let response = Response(statusCode: 200, data: Data("body".utf8))
        let result: Result<Response, MoyaError> = isError ? .failure(.statusCode(response)) : .success(response)
        plugin(isError ? .errorResponseBody : .successResponseBody).didReceive(result, target: PlainTarget())
        #expect(log.entries.last == "Response Body: body")
        plugin(isError ? .successResponseBody : .errorResponseBody).didReceive(result, target: PlainTarget())
        #expect(log.entries.count == 3)
    }

    @Test("M173: an error without a response is one entry with target and error")
    func errorWithoutResponse() {
        plugin(.verbose).didReceive(.failure(.requestMapping("x")), target: GitHub.zen)
        #expect(log.entries == ["Error: Error calling zen : requestMapping(\"x\")"])
    }

    @Test("M174: by default, bytes that are not UTF-8 are named, and an entry begins with its origin")
    func formatter() {
        typealias Formatter = NetworkLoggerPlugin.Configuration.Formatter
        #expect(Formatter.defaultDataFormatter(Data([0xFF])) == "## Cannot map data to String ##")
        #expect(Formatter.defaultDataFormatter(Data("x".utf8)) == "x")
        let entry = Formatter.defaultEntryFormatter(identifier: "id", message: "text", target: PlainTarget())
        #expect(entry.hasPrefix("Moya_Logger: ["))
        #expect(entry.hasSuffix("] id: text"))
    }

    @Test("Values of secret header fields and query items are not logged")
    func secrets() throws {
        var request = try request()
        request.setValue("Bearer opensesame", forHTTPHeaderField: "Authorization")
        request.url = URL(string: "https://example.com/?access_token=opensesame")
        plugin(.verbose).willSend(FakeRequest(request: request), target: PlainTarget())
        #expect(!log.entries.joined().contains("opensesame"))
        #expect(log.entries.joined().contains("Authorization"))
    }
}
