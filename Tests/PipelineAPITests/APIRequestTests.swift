import Foundation
import HTTPTypes
import Pipeline
import PipelineAPI
import PipelineTesting
import PipelineTransports
import TestSupport
import Testing

@Suite("APIRequest", .tags(.concurrent))
struct APIRequestTests {
    struct ListQuery: Encodable, Sendable {
        var offset = 0
        var limit = 100
    }

    struct User: Codable, Sendable, Equatable {
        var name: String
    }

    struct Unencodable: JSONPayload, Error {
        func encode(to encoder: any Encoder) throws { throw self }
    }

    @Test("C1 C3 B-C21 The endpoint stands below the server's path, its parts joined by one slash, escaped once")
    func url() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let requests: [APIRequest<Nothing>] = [
            APIRequest("login"), APIRequest("/login"), APIRequest("users", "7"), APIRequest(["a b", "c%20d"]),
            APIRequest("post?sort=a b&x=%31#2"), APIRequest(),
        ]
        for request in requests { _ = try await bench.api.send(request) }
        #expect(
            bench.transport.sent.map { $0.head.path ?? "" } == [
                "/v1/login", "/v1/login", "/v1/users/7", "/v1/a%20b/c%20d", "/v1/post?sort=a%20b&x=%31%232", "/v1",
            ]
        )
        #expect(bench.transport.sent.allSatisfy { $0.host == "api.example.com" && $0.method == .get })
    }

    @Test(
        "C11 C64 B-C14 B-C15 A query has its members in their order, after the endpoint's own, and replaces an earlier one"
    )
    func query() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let request = APIRequest<Nothing>("post").query(ListQuery())
        _ = try await bench.api.send(request)
        _ = try await bench.api.send(APIRequest<Nothing>("post?a=1").query(ListQuery()).query(["q": "a&b=c+d"]))
        #expect(bench.paths == ["post?offset=0&limit=100", "post?a=1&q=a%26b%3Dc%2Bd"])
    }

    @Test("C9 C12 The method and header fields are the request's, a name once whatever its case")
    func methodAndHeaders() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let request = APIRequest<Nothing>("x").method(.patch).headers(["x-a": "1", "X-B": "2"]).headers(["X-A": "3"])
        _ = try await bench.api.send(request)
        let sent = try #require(bench.transport.sent.first)
        #expect(sent.method == .patch)
        #expect(sent.headers[values: try #require(HTTPField.Name("X-A"))] == ["3"])
        #expect(sent.headers[try #require(HTTPField.Name("X-B"))] == "2")
        _ = try await bench.api.send(request.headers(["x-a": "5", "X-a": "4"]))
        #expect(bench.transport.sent.last?.headers[try #require(HTTPField.Name("X-A"))] == "5")
    }

    @Test("Each modifier gives a copy: the request that it was made from is as before")
    func values() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let request = APIRequest<Nothing>("x")
        _ = request.method(.put).query(ListQuery()).headers(["X-A": "1"]).bearer("t")
        _ = try await bench.api.send(request)
        let sent = try #require(bench.transport.sent.first)
        #expect(sent.method == .get && bench.paths == ["x"] && sent.headers.isEmpty)
    }

    @Test("C14 B-C20 basicAuth sends name and password as they are, replacing a field and a token given before")
    func basicAuth() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let request = APIRequest<Nothing>("login").headers(["Authorization": "x"]).bearer("t")
        _ = try await bench.api.send(request.basicAuth(email: "Ann@Example.com", password: "s3:cret"))
        let field = try #require(bench.transport.sent.first?.headers[values: .authorization])
        #expect(field == ["Basic " + Data("Ann@Example.com:s3:cret".utf8).base64EncodedString()])
        _ = try await bench.api.send(request.basicAuth(email: "a", password: "e\u{301}"))
        #expect(bench.transport.sent.last?.headers[.authorization] == "Basic YTrDqQ==")
    }

    @Test("bearer sends a token as Bearer")
    func bearer() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        _ = try await bench.api.send(APIRequest<Nothing>("x").bearer("abc"))
        #expect(bench.transport.sent.first?.headers[.authorization] == "Bearer abc")
        #expect(bench.transport.sent.first?.secretFields == [.authorization])
    }

    @Test(
        "A credential that cannot be sent is refused without a word of it, and nothing is sent",
        arguments: [
            APIRequest<Nothing>("x").basicAuth(email: "a:hunter2", password: "p"),
            APIRequest<Nothing>("x").basicAuth(email: "a", password: "hunter2\n"),
            APIRequest<Nothing>("x").basicAuth(email: "hunter2\u{7f}", password: "p"),
            APIRequest<Nothing>("x").bearer("hunter2,x"), APIRequest<Nothing>("x").bearer("hunter2\""),
            APIRequest<Nothing>("x").bearer("hunter2 x"), APIRequest<Nothing>("x").bearer(""),
            APIRequest<Nothing>("x").bearer("hunter2").serverURL(ServerURL(base: "http://example.com")),
        ]
    )
    func refusedCredential(request: APIRequest<Nothing>) async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let error = await pipelineError { _ = try await bench.api.send(request) }
        #expect(error?.code == .invalidRequest(.credential))
        #expect(!"\(String(describing: error))\(request)".contains("hunter2"))
        #expect(bench.transport.sent.isEmpty)
        _ = try await bench.api.send(APIRequest<Nothing>("next"))
        #expect(bench.paths == ["next"])
    }

    @Test("A credential goes over http to the machine itself, and elsewhere when that is allowed")
    func cleartext() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let request = APIRequest<Nothing>("x")
        _ = try await bench.api.send(request.bearer("t").serverURL(ServerURL(base: "http://127.0.0.1:8080")))
        let other = ServerURL(base: "http://example.com", allowsCleartext: true)
        _ = try await bench.api.send(request.bearer("t").serverURL(other))
        #expect(bench.transport.sent.map { $0.headers[.authorization] } == ["Bearer t", "Bearer t"])
        let refused = request.bearer("t").serverURL(ServerURL(base: "http://example.com"))
        let error = await pipelineError { _ = try Endpoint(refused).makeRequest() }
        #expect(error?.code == .invalidRequest(.credential))
    }

    @Test("A plugin cannot lead a credential of a request over http, but replace it")
    func ledAstray() async throws {
        let mirror: PreparePlugin = .prepare { request, _ in
            request.head.scheme = "http"
            request.head.authority = "mirror.example.com"
        }
        let own: PreparePlugin = .prepare { request, _ in request.headers[.authorization] = "Own x" }
        let request = APIRequest<Nothing>("x").basicAuth(email: "a", password: "hunter2")
        let led = APIBench(ScriptedTransport(always: .ok), plugins: [mirror])
        let error = await pipelineError { _ = try await led.api.send(request) }
        #expect(error?.code == .invalidRequest(.credential) && led.transport.sent.isEmpty)
        #expect(!"\(String(describing: error))".contains("hunter2"))
        let more: PreparePlugin = .prepare { request, _ in
            request.headers.append(HTTPField(name: .authorization, value: "Own x"))
        }
        let longer: PreparePlugin = .prepare { request, _ in request.headers[.authorization]?.append(", Own x") }
        for added in [more, longer] {
            let bench = APIBench(ScriptedTransport(always: .ok), plugins: [mirror, added])
            #expect(await pipelineError { _ = try await bench.api.send(request) }?.code == .invalidRequest(.credential))
        }
        let replaced = APIBench(ScriptedTransport(always: .ok), plugins: [mirror, own])
        _ = try await replaced.api.send(request)
        #expect(replaced.transport.sent.map { $0.headers[.authorization] } == ["Own x"])
    }

    @Test("A redirect to another origin drops a credential of a request")
    func redirectedCredential() async throws {
        let bench = APIBench(.status(302, headers: [.location: "https://other.example.com/x"]), .ok)
        _ = try await bench.api.send(APIRequest<Nothing>("x").bearer("t"))
        #expect(bench.transport.sent.map { $0.headers[.authorization] } == ["Bearer t", nil])
    }

    @Test("What stands in one of several parts of an endpoint stays in the path, and cannot lead out of it")
    func dataInPath() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        _ = try await bench.api.send(APIRequest<Nothing>("users", "ann?role=admin#2", "posts"))
        let _: User? = try? await bench.api.send(Users.get(name: "ann?role=admin"))
        #expect(bench.paths == ["users/ann%3Frole=admin%232/posts", "users/ann%3Frole=admin"])
        for data in ["../admin", "..", "a/%2E%2e/b", ".%2e"] {
            let error = await pipelineError { _ = try await bench.api.send(APIRequest<Nothing>("users", data)) }
            #expect(error?.code == .invalidRequest(.path))
        }
        #expect(bench.transport.sent.count == 2)
        _ = try await bench.api.send(APIRequest<Nothing>("users", "..a", "b..", "..."))
        #expect(bench.paths.last == "users/..a/b../...")
    }

    @Test("The answer of a download decodes to Nothing, and to nothing else")
    func download() async throws {
        let folder = try TemporaryFolder()
        let bench = APIBench(ScriptedTransport(always: .status(200, body: "bytes")))
        let task = RequestTask.downloadDestination(.file(folder.file("a"), options: .removePreviousFile))
        _ = try await bench.api.send(APIRequest<Nothing>("x").task(task))
        #expect(try Data(contentsOf: folder.file("a")) == Data("bytes".utf8))
        let data = await pipelineError { _ = try await bench.api.send(APIRequest<Data>("x").task(task)) }
        let text = await pipelineError { _ = try await bench.api.send(APIRequest<String>("x").task(task)) }
        let model = await pipelineError { _ = try await bench.api.send(APIRequest<User>("x").task(task)) }
        #expect([data, text, model].map { $0?.code } == [.mapping(.object), .mapping(.object), .mapping(.object)])
    }

    private struct Cancelling: Decodable {
        init(from decoder: any Decoder) throws {
            withUnsafeCurrentTask { $0?.cancel() }
            throw CancellationError()
        }
    }

    @Test("A call that is cancelled while its answer decodes throws CancellationError")
    func cancelledDecoding() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let api = bench.api
        for withResponse in [false, true] {
            let task = Task {
                let request = APIRequest<Cancelling>("x")
                if withResponse {
                    _ = try await api.send(request.withResponse)
                } else {
                    _ = try await api.send(request)
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test(
        "C15 C74 Exactly 200 is a success, unless other statuses are desired, named or not",
        arguments: [200, 201, 204, 404, 777]
    )
    func status(code: Int) async throws {
        let bench = APIBench(ScriptedTransport(always: .status(code)))
        let request = APIRequest<Nothing>("x")
        let error = await pipelineError { _ = try await bench.api.send(request) }
        #expect(error?.code == (code == 200 ? nil : .unacceptableStatus))
        #expect(error?.response?.statusCode == (code == 200 ? nil : code))
        let wanted = request.desiredStatusCode(.created, .noContent, .custom(777))
        let second = await pipelineError { _ = try await bench.api.send(wanted) }
        #expect((second == nil) == [201, 204, 777].contains(code))
        _ = try await bench.api.send(request.desiredStatusCode([]))
    }

    @Test("A status that has not three digits stops the program")
    func nonsenseStatus() async {
        await #expect(processExitsWith: .failure) { _ = HTTPResponse.Status.custom(99) }
        await #expect(processExitsWith: .failure) { _ = HTTPResponse.Status.custom(1000) }
        #expect(HTTPResponse.Status.custom(100).code == 100 && HTTPResponse.Status.custom(999).code == 999)
    }

    @Test("C16 C17 addError and addCustomError give the failure of a status its text; the last for a status wins")
    func errorTexts() async throws {
        let bench = APIBench(ScriptedTransport(always: .status(404, body: #"{"message":"from the server"}"#)))
        let request = APIRequest<Nothing>("x")
        let plain = await pipelineError { _ = try await bench.api.send(request) }
        #expect(plain?.customText == nil && plain?.message == "from the server")
        let texts = request.addError(.notFound, "a").addCustomError([.gone, .notFound], "User not found")
        let error = await pipelineError { _ = try await bench.api.send(texts.addError(.conflict, "c")) }
        #expect(error?.customText == "User not found" && error?.message == "User not found")
    }

    @Test("A text for a code is that of its details too, and the text of a detail wins")
    func codeTexts() async throws {
        var bench = APIBench(.failure(.timeout(.attempt)), .failure(.timeout(.idle)), .failure(.offline))
        bench.api.errorTexts.set("client", for: .timeout)
        let request = APIRequest<Nothing>("x").addError(.timeout, "slow").addCustomError(.timeout(.idle), "idle")
        var texts: [String?] = []
        for _ in 0..<3 { texts.append(await pipelineError { _ = try await bench.api.send(request) }?.customText) }
        #expect(texts == ["slow", "idle", nil])
    }

    @Test("The text of a status wins over that of the code, and is for answers alone that were not accepted")
    func statusTexts() async throws {
        let bench = APIBench(.status(404), .status(410), .ok)
        let request = APIRequest<User>("x").addError(.notFound, "status").addError(.unacceptableStatus, "code")
            .addError(.ok, "accepted")
        var texts: [String?] = []
        for _ in 0..<3 { texts.append(await pipelineError { _ = try await bench.api.send(request) }?.customText) }
        #expect(texts == ["status", "code", nil])
    }

    @Test(
        "C46 A text of the request, by status or code, wins over the client's, and both over the server's, with any provider"
    )
    func textPriority() async throws {
        var bench = APIBench(ScriptedTransport(always: .status(404)))
        bench.api.errorTexts = ErrorTexts().adding("client 404", for: .notFound).adding("client 409", for: .conflict)
        let request = APIRequest<Nothing>("x")
        let error = await pipelineError { _ = try await bench.api.send(request) }
        #expect(error?.customText == "client 404")
        let own = request.addError(.notFound, "request 404")
        #expect(await pipelineError { _ = try await bench.api.send(own) }?.customText == "request 404")
        let byCode = request.addError(.unacceptableStatus, "request code")
        #expect(await pipelineError { _ = try await bench.api.send(byCode) }?.customText == "request code")
        let others = request.addError(.conflict, "request 409")
        #expect(await pipelineError { _ = try await bench.api.send(others) }?.customText == "client 404")
        let direct = own.serverURL(ServerURL(base: "https://example.com"))
        let thrown = await pipelineError { _ = try await bench.api.provider.requestDecoded(direct) }
        #expect(thrown?.customText == "request 404")
        let ofCall = RequestOptions { $0.errorTexts.set("call 404", for: .notFound) }
        for plugins: [any PluginType] in [[], [.prepare { _, _ in }]] {
            let provider = Provider<MultiTarget>(transport: bench.transport, plugins: plugins)
            let error = await pipelineError { _ = try await provider.requestDecoded(direct, options: ofCall) }
            #expect(error?.customText == "call 404")
        }
        bench.api.options.errorTexts.set("options 410", for: .gone)
        #expect(
            bench.api.errorTexts
                == ErrorTexts().adding("client 404", for: .notFound)
                .adding("client 409", for: .conflict).adding("options 410", for: .gone)
        )
    }

    @Test("What a plugin throws for people is the message")
    func pluginMessage() async throws {
        struct LoggedOut: LocalizedError { var errorDescription: String? { "Please log in" } }
        let bench = APIBench(ScriptedTransport(always: .ok), plugins: [.prepare { _, _ in throw LoggedOut() }])
        let request = APIRequest<Nothing>("x")
        #expect(await pipelineError { _ = try await bench.api.send(request) }?.message == "Please log in")
        let own = request.addError(.plugin, "own")
        #expect(await pipelineError { _ = try await bench.api.send(own) }?.message == "own")
        struct Blank: LocalizedError { var errorDescription: String? { " " } }
        let blank = APIBench(plugins: [.prepare { _, _ in throw Blank() }])
        let silent = request.addError(.plugin, "")
        #expect(await pipelineError { _ = try await blank.api.send(silent) }?.message == "Something went wrong")
    }

    @Test(
        "serverMessage is what the server says, alone; localizedDescription the text for people, else the description"
    )
    func texts() async throws {
        let bench = APIBench(ScriptedTransport(always: .status(404, body: #"{"message":"m"}"#)))
        let plain = await pipelineError { _ = try await bench.api.send(APIRequest<Nothing>("x")) }
        #expect(plain?.serverMessage == "m" && plain?.localizedDescription == plain?.description)
        let request = APIRequest<Nothing>("x").addError(.notFound, "own")
        let own = await pipelineError { _ = try await bench.api.send(request) }
        #expect(own?.serverMessage == "m" && own?.message == "own" && own?.localizedDescription == "own")
        #expect(own?.description.contains("own") == false)
        let blank = await pipelineError { _ = try await bench.api.send(request.addError(.notFound, " ")) }
        #expect(blank?.message == "m" && blank?.localizedDescription == blank?.description)
        #expect(PipelineError(.offline, "it failed").serverMessage == nil)
    }

    @Test(
        "C45 C76 Without a text, the message is what the server says, else a general one",
        arguments: [
            (400, #"{"message":"m"}"#, "m"), (400, #"["only"]"#, "only"), (400, #"["a","b"]"#, "Something went wrong"),
            (400, #"{"message":"m"}"# + String(repeating: " ", count: 1 << 20), "Something went wrong"),
            (200, #"{"message":"m"}"#, "Something went wrong"), (401, "", "You're not authorized"),
            (403, "", "This action is prohibited"), (404, "", "Not found"), (429, "", "Too many requests"),
            (500, "", "The service is temporarily unavailable"), (502, "", "The service is temporarily unavailable"),
            (503, "<html>", "The service is temporarily unavailable"),
            (504, "", "The service is temporarily unavailable"),
            (404, #"{"message":""}"#, "Not found"), (404, #"{"message":" \n"}"#, "Not found"),
            (404, #"[""]"#, "Not found"), (404, #"[" "]"#, "Not found"),
        ]
    )
    func messages(status: Int, body: String, message: String) async throws {
        let bench = APIBench(.status(status, body: body))
        #expect(await pipelineError { _ = try await bench.api.send(APIRequest<User>("x")) }?.message == message)
    }

    @Test("C45 Of a problem report the message is the detail, else the title")
    func problemMessage() async throws {
        let fields: HTTPFields = [.contentType: "application/problem+json"]
        let bench = APIBench(
            .status(400, headers: fields, body: #"{"title":"t","detail":"d"}"#),
            .status(400, headers: fields, body: #"{"title":"t"}"#),
            .status(400, headers: fields, body: #"{"title":"t","detail":" "}"#),
            .status(400, headers: fields, body: #"{"title":"","detail":"","message":"m"}"#)
        )
        for text in ["d", "t", "t", "m"] {
            #expect(await pipelineError { _ = try await bench.api.send(APIRequest<Nothing>("x")) }?.message == text)
        }
    }

    @Test(
        "C45 Without an answer the message says in general what happened",
        arguments: [
            (PipelineError.Code.offline, "You're not connected to the internet"),
            (.timeout(.attempt), "The server took too long to answer"), (.cancelled, "The request was cancelled"),
            (.dns, "The server cannot be reached"), (.connect(.refused), "The server cannot be reached"),
            (.tls, "Something went wrong"),
        ]
    )
    func generalMessages(code: PipelineError.Code, message: String) {
        #expect(PipelineError(code, "it failed").message == message)
    }

    @Test("C19 B-C12 responseTimeout ends a call that takes longer, of any payload")
    func responseTimeout() async throws {
        let bench = APIBench(ScriptedTransport(always: .delayed(.seconds(30), .ok)))
        let request = APIRequest<Nothing>("x").method(.post).responseTimeout(.seconds(5))
        let file = request.payload(PayloadTests.Post(text: "t"))
        for request in [request, file] {
            async let error = pipelineError { _ = try await bench.api.send(request) }
            await bench.clock.waitForSleepers(2)
            bench.clock.advance(by: .seconds(5))
            #expect(await error?.code == .timeout(.attempt))
        }
    }

    @Test("C41 C42 C43 C44 The type says how the answer is read")
    func results() async throws {
        func answer<Value>(_ body: String, _ type: Value.Type) async throws -> Value where Value: Decodable & Sendable {
            try await APIBench(.status(200, body: body)).api.send(APIRequest<Value>("x"))
        }
        let precise = Decimal(sign: .plus, exponent: -9, significand: 1_234_567_890_123_456_789)
        #expect(try await answer(#"{"name":"Ann"}"#, User.self) == User(name: "Ann"))
        #expect(try await answer(#"[{"name":"Ann"}]"#, [User].self) == [User(name: "Ann")])
        _ = try await answer("not JSON", Nothing.self)
        _ = try await answer("", Nothing.self)
        let empty = await pipelineError { _ = try await answer("", [User].self) }
        #expect(empty?.code.isKind(of: .mapping) == true)
        #expect(try await answer("bytes", Data.self) == Data("bytes".utf8))
        #expect(try await answer("a text", String.self) == "a text")
        #expect(try await answer("42\n", Int.self) == 42)
        #expect(try await answer("18446744073709551615", UInt64.self) == .max)
        #expect(try await answer("1.5", Double.self) == 1.5)
        #expect(try await answer("0.1", Decimal.self) == Decimal(string: "0.1"))
        #expect(try await answer("true", Bool.self))
        #expect(try await !answer("0", Bool.self))
        #expect(try await answer("2", Bool.self))
        #expect(try await answer("1.5\n", Float.self) == 1.5)
        #expect(try await answer("1234567890.123456789", Decimal.self) == precise)
    }

    @Test("An optional answer is nil of an empty body, its value of another")
    func optionalResults() async throws {
        let bench = APIBench(
            .status(204),
            .status(200, body: #"{"name":"Ann"}"#),
            .status(200, body: "null"),
            .status(204)
        )
        let request = APIRequest<User?>("x").desiredStatusCode(.ok, .noContent)
        #expect(try await bench.api.send(request) == nil)
        #expect(try await bench.api.send(request) == User(name: "Ann"))
        #expect(try await bench.api.send(request) == nil)
        #expect(try await bench.api.send(APIRequest<Int?>("x").desiredStatusCode(.noContent)) == nil)
        let text = APIBench(ScriptedTransport(always: .status(200, body: "1"))).api
        #expect(try await text.send(APIRequest<Data?>("x")) == Data("1".utf8))
        #expect(try await text.send(APIRequest<String?>("x")) == "1")
        #expect(try await text.send(APIRequest<Bool?>("x")) == true)
        #expect(try await text.send(APIRequest<Int?>("x")) == 1)
        #expect(try await text.send(APIRequest<Nothing?>("x")) != nil)
        let null = APIBench(ScriptedTransport(always: .status(200, body: "null\n"))).api
        #expect(try await null.send(APIRequest<Data?>("x")) == Data("null\n".utf8))
        #expect(try await null.send(APIRequest<String?>("x")) == nil)
        #expect(try await null.send(APIRequest<Int?>("x")) == nil)
        let direct = APIRequest<User?>(ServerURL(base: "https://example.com"), "x")
        let empty = Provider<MultiTarget>(transport: ScriptedTransport(always: .status(200)))
        let error = await pipelineError { _ = try await empty.requestDecoded(direct, atKeyPath: "user") }
        #expect(error?.code.isKind(of: .mapping) == true)
    }

    @Test("A body of more bytes than the provider holds is limit.bodyBytes, also for Nothing")
    func tooLarge() async throws {
        let provider = Provider<MultiTarget>(
            transport: ScriptedTransport(always: .status(200, body: "12345")),
            limits: PipelineLimits(bufferedBodyByteCount: 4)
        )
        let api = APIClient(provider, server: ServerURL(base: "https://example.com"))
        let error = await pipelineError { _ = try await api.send(APIRequest<Nothing>("x")) }
        #expect(error?.code == .limit(.bodyBytes))
    }

    @Test(
        "C44 An answer that does not decode is an error with the response, and the next call works",
        arguments: [
            "", "nonsense", #"{"name":1}"#,
        ]
    )
    func undecodable(body: String) async throws {
        let wrong = ScriptedTransport.Step.status(200, body: body)
        let bench = APIBench(wrong, wrong, wrong, .status(200, body: #"{"name":"Ann"}"#))
        let request = APIRequest<User>("x").addError(.mapping, "odd answer")
        let error = await pipelineError { _ = try await bench.api.send(request) }
        #expect(error?.code == .mapping(.object) && error?.response?.data == Data(body.utf8))
        #expect(error?.customText == "odd answer")
        let direct = request.serverURL(ServerURL(base: "https://example.com"))
        let thrown = await pipelineError { _ = try await bench.api.provider.requestDecoded(direct) }
        #expect(thrown?.customText == "odd answer")
        let number = await pipelineError { _ = try await bench.api.send(APIRequest<Int>("x")) }
        #expect(number?.code == .mapping(.object))
        #expect(try await bench.api.send(request) == User(name: "Ann"))
    }

    @Test("A number is one in decimal digits", arguments: ["nan", "inf", "0x10", "1e999", "1_000", "", "1.5.2"])
    func numbers(body: String) async throws {
        let bench = APIBench(ScriptedTransport(always: .status(200, body: body)))
        func fails<Value: Decodable & Sendable>(_ type: Value.Type) async -> Bool {
            await pipelineError { _ = try await bench.api.send(APIRequest<Value>("x")) }?.code == .mapping(.object)
        }
        #expect(await fails(Double.self))
        #expect(await fails(Decimal.self))
        #expect(await fails(Int?.self) != body.isEmpty)
        #expect(await fails(Float.self))
        #expect(await fails(Int.self))
    }

    @Test("A number that its type takes for infinite is none")
    func infiniteFloat() async throws {
        let bench = APIBench(ScriptedTransport(always: .status(200, body: "1e39")))
        #expect(try await bench.api.send(APIRequest<Double>("x")) == 1e39)
        let error = await pipelineError { _ = try await bench.api.send(APIRequest<Float>("x")) }
        #expect(error?.code == .mapping(.object))
    }

    @Test("C8 B-C8 A payload or a query that cannot be encoded is an error, nothing is sent, and the next call works")
    func unencodable() async throws {
        let bench = APIBench(.ok)
        let request = APIRequest<Nothing>("x", payload: Unencodable()).method(.post)
        #expect(await pipelineError { _ = try await bench.api.send(request) }?.code == .encoding)
        let query = APIRequest<Nothing>("x").query([Double.infinity])
        #expect(await pipelineError { _ = try await bench.api.send(query) }?.code == .encoding)
        #expect(bench.transport.sent.isEmpty)
        _ = try await bench.api.send(APIRequest<Nothing>("next"))
        #expect(bench.paths == ["next"])
    }

    @Test("Any Provider<MultiTarget> sends a request that has a server, and decodes as the request says")
    func anyProvider() async throws {
        let transport = ScriptedTransport(always: .status(200, body: "100"))
        let provider = Provider<MultiTarget>(transport: transport)
        let request = APIRequest<Date>(ServerURL(base: "https://example.com", path: "v2"), "time")
            .dateDecodingStrategy(.secondsSince1970)
        #expect(try await provider.requestDecoded(request) == Date(timeIntervalSince1970: 100))
        #expect(transport.sent.first?.url?.absoluteString == "https://example.com/v2/time")
        let lost = await pipelineError { _ = try await provider.requestDecoded(APIRequest<Nothing>("time")) }
        #expect(lost?.code == .invalidRequest(.url))
    }

    @Test("At a key path any type is read from the JSON, and with the decoder that is given")
    func keyPath() async throws {
        let body = #"{"user":{"name":"Ann","at":7}}"#
        let provider = Provider<MultiTarget>(transport: ScriptedTransport(always: .status(200, body: body)))
        let server = ServerURL(base: "https://example.com")
        let name = try await provider.requestDecoded(APIRequest<String>(server, "x"), atKeyPath: "user.name")
        #expect(name == "Ann")
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        let date = try await provider.requestDecoded(
            APIRequest<Date>(server, "x"),
            atKeyPath: "user.at",
            decoder: decoder
        )
        #expect(date == Date(timeIntervalSince1970: 7))
    }

    @Test("sampleData is what a stub answers without a sample")
    func sampleData() async throws {
        let api = APIClient(
            Provider<MultiTarget>(transport: StubTransport()),
            server: ServerURL(base: "https://example.com")
        )
        let request = APIRequest<User>("x").sampleData(Data(#"{"name":"Ann"}"#.utf8))
        #expect(try await api.send(request) == User(name: "Ann"))
        #expect(try await api.send(request.desiredStatusCode(.created).withResponse).statusCode == 201)
        #expect(
            try await api.send(APIRequest<Nothing>("x").desiredStatusCode(.noContent).withResponse).statusCode == 204
        )
    }

    private enum Users: EndpointController {
        static let endpoint = "users"
        static func get(id: Int) -> APIRequest<User> { request("\(id)") }
        static func get(name: String) -> APIRequest<User> { request(name) }
    }

    private enum Elsewhere: EndpointController {
        static let server = ServerURL(base: "https://other.example.com")
        static let endpoint = "x"
    }

    private enum Perhaps: EndpointController {
        static var server: ServerURL? { ServerURL(base: "https://third.example.com") }
        static let endpoint = "y"
    }

    @Test("C6 C7 A controller makes requests below its endpoint, to its own server if it has one")
    func controllers() async throws {
        let bench = APIBench(ScriptedTransport(always: .status(200, body: #"{"name":"Ann"}"#)))
        #expect(try await bench.api.send(Users.get(id: 7)).name == "Ann")
        let _: Nothing = try await bench.api.send(Elsewhere.request())
        let _: Nothing = try await bench.api.send(Perhaps.request("1", payload: nil))
        #expect(
            bench.transport.sent.compactMap(\.url?.absoluteString) == [
                "https://api.example.com/v1/users/7", "https://other.example.com/x", "https://third.example.com/y/1",
            ]
        )
    }

    @Test("Its description and its dump show the method and the path, nothing else")
    func description() {
        let request = APIRequest<Nothing>("login?token=hunter2").headers(["X": "hunter2"])
            .basicAuth(email: "hunter2", password: "hunter2").query(["q": "hunter2"])
        var text = "\(request)\(request.task)"
        dump(request, to: &text)
        #expect(text.contains("GET login") && !text.contains("hunter2"))
    }
}
