import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("Examples of APIRequest: login and signup", .realTime, .watched)
struct AuthExampleTests {
    @Test(
        "C1 C14 B-C20 A login is a POST without a body that sends name and password unchanged, in UTF-8",
        arguments: NetworkTransport.allCases,
        [
            // The examples of RFC 7617 §2 and §2.1.
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123£", "Basic dGVzdDoxMjPCow=="),
            ("Zoë.Müller@Example.COM", "Pa55 wörd", "Basic Wm/Dqy5Nw7xsbGVyQEV4YW1wbGUuQ09NOlBhNTUgd8O2cmQ="),
            // Letters with combining accents, which is not Normalization Form C.
            (
                "Zoe\u{308}.Mu\u{308}ller@Example.COM", "Pa55 wo\u{308}rd",
                "Basic Wm/Dqy5Nw7xsbGVyQEV4YW1wbGUuQ09NOlBhNTUgd8O2cmQ="
            ),
        ]
    )
    func login(transport: NetworkTransport, credentials: (email: String, password: String, field: String)) async throws
    {
        let bench = try ExampleBench(transport, ["POST /v1/login": [.respond(200, body: ExampleBench.token)]])
        let login = AuthController.login(email: credentials.email, password: credentials.password)
        let answer = try await bench.api.send(login)
        #expect(answer == LoginResponse(token: "t-1", expires: Date(timeIntervalSince1970: 1_000_000_000)))
        let sent = try #require(bench.server.requests.first)
        #expect(bench.lines == ["POST /v1/login"])
        #expect(sent.values(of: "Authorization") == [credentials.field])
        #expect(sent.values(of: "Host") == ["127.0.0.1:\(bench.server.port)"])
        #expect(sent.values(of: "Content-Type") == [] && sent.values(of: "Transfer-Encoding") == [])
        #expect(sent.values(of: "Content-Length").allSatisfy { $0 == "0" } && sent.body.isEmpty)
    }

    @Test(
        "C18 C60 C70 A signup sends JSON, encodes its date with the request's strategy and expects 201",
        arguments: NetworkTransport.allCases,
        [
            (DateCodingStrategy.iso8601, #""2001-09-09T01:46:40Z""#), (.secondsSince1970, "1000000000.25"),
            (.millisecondsSince1970, "1000000000250"), (.formatted("yyyy-MM-dd"), #""2001-09-09""#),
        ]
    )
    func signup(transport: NetworkTransport, date: (strategy: DateCodingStrategy, json: String)) async throws {
        let bench = try ExampleBench(transport, ["POST /v1/signup": [.respond(201, body: #"{"token":"t-2"}"#)]])
        let signup = AuthController.signup(SignupRequest()).dateEncodingStrategy(date.strategy)
        #expect(try await bench.api.send(signup) == LoginResponse(token: "t-2", expires: nil))
        let sent = try #require(bench.server.requests.first)
        let json = #"{"age":44,"born":\#(date.json),"email":"ann@example.com","name":"Änn \"A\" O'Neill"}"#
        #expect(bench.lines == ["POST /v1/signup"])
        #expect(sent.body == Data(json.utf8), "\(sent.text)")
        #expect(sent.values(of: "Content-Type") == ["application/json"])
        #expect(sent.values(of: "Content-Length") == ["\(json.utf8.count)"])
        #expect(sent.values(of: "Transfer-Encoding") == [] && sent.values(of: "Authorization") == [])
    }

    @Test(
        "A signup fails if the server responds with 200, because only 201 is desired",
        arguments: NetworkTransport.allCases
    )
    func wrongSuccess(transport: NetworkTransport) async throws {
        let bench = try ExampleBench(transport, ["POST /v1/signup": [.respond(200, body: #"{"token":"t-2"}"#)]])
        let error = try await bench.failure(AuthController.signup(SignupRequest()))
        #expect(error?.code == .unacceptableStatus && error?.response?.statusCode == 200)
    }

    @Test(
        "C16 C45 C46 The message of a 404 is the request's own text, else the client's, else the server's",
        arguments: NetworkTransport.allCases
    )
    func texts(transport: NetworkTransport) async throws {
        var bench = try ExampleBench(transport) { _ in [.respond(404, body: #"{"message":"from the server"}"#)] }
        let login = AuthController.login(email: "ann@example.com", password: "wrong")
        let error = try #require(try await bench.failure(login))
        #expect(error.code == .unacceptableStatus && error.response?.statusCode == 404)
        #expect(error.message == "User not found")
        #expect(try await bench.failure(PostController.list())?.message == "from the server")
        bench.api.options.errorTexts.set("from the client", for: .notFound)
        #expect(try await bench.failure(PostController.list())?.message == "from the client")
        #expect(try await bench.failure(login)?.message == "User not found")
    }

    @Test(
        "C29 A 401 calls onNotAuthorized once, after the client's handler and instead of onError",
        arguments: NetworkTransport.allCases
    )
    func notAuthorized(transport: NetworkTransport) async throws {
        let diary = Diary()
        let bench = try ExampleBench(
            transport,
            ["POST /v1/login": [.respond(401, headers: [("WWW-Authenticate", "Basic realm=\"x\"")], body: "{}")]],
            plugins: [
                UnauthorizedPlugin { response, _ in diary.add("client \(response?.headers[.wwwAuthenticate] ?? "")") }
            ]
        )
        let call = bench.api.call(AuthController.login(email: "ann@example.com", password: "wrong"))
            .onSuccess { _ in diary.add("success") }.onError { _ in diary.add("error") }
        await call.onNotAuthorized { diary.add("notAuthorized") }.finished()
        #expect(diary.entries == ["client Basic realm=\"x\"", "notAuthorized"])
        await call.finished()
        #expect(diary.entries.dropFirst(2) == ["client Basic realm=\"x\"", "error"])
        #expect(bench.lines == ["POST /v1/login", "POST /v1/login"])
    }

    @Test(
        "C6 C13 Successes and other statuses do not call onNotAuthorized",
        arguments: NetworkTransport.allCases,
        [200, 403]
    )
    func authorized(transport: NetworkTransport, status: Int) async throws {
        let diary = Diary()
        let bench = try ExampleBench(transport, ["POST /v1/login": [.respond(status, body: ExampleBench.token)]])
        await bench.api.call(AuthController.login(email: "ann@example.com", password: "secret"))
            .onSuccess { diary.add("success \($0.token)") }.onNotAuthorized { diary.add("notAuthorized") }
            .onError { diary.add("error \($0.code)") }.finished()
        #expect(diary.entries == [status == 200 ? "success t-1" : "error unacceptableStatus"])
    }
}
