import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("The example from Moya's page on basic usage", .tags(.concurrent), .realTime, .watched)
struct MyServiceExampleTests {
    enum MyService: TargetType {
        case zen
        case showUser(id: Int)
        case createUser(firstName: String, lastName: String)
        case updateUser(id: Int, firstName: String, lastName: String)
        case showAccounts

        var baseURL: URL { Endpoint.url("https://api.myservice.com") }
        var path: String {
            switch self {
            case .zen: "/zen"
            case .showUser(let id), .updateUser(let id, _, _): "/users/\(id)"
            case .createUser: "/users"
            case .showAccounts: "/accounts"
            }
        }
        var method: HTTPMethod {
            switch self {
            case .zen, .showUser, .showAccounts: .get
            case .createUser, .updateUser: .post
            }
        }
        var task: RequestTask {
            switch self {
            case .zen, .showUser, .showAccounts:
                .requestPlain
            case .updateUser(_, let firstName, let lastName):
                .requestParameters(
                    parameters: ["first_name": firstName, "last_name": lastName],
                    encoding: URLEncoding.queryString
                )
            case .createUser(let firstName, let lastName):
                .requestParameters(
                    parameters: ["first_name": firstName, "last_name": lastName],
                    encoding: JSONEncoding.default
                )
            }
        }
        var headers: [String: String]? { ["Content-type": "application/json"] }
        var sampleData: Data {
            switch self {
            case .zen: Data("Anything added dilutes everything else.".utf8)
            case .showUser(let id): Self.user(id, "Harry", "Potter")
            case .createUser(let firstName, let lastName): Self.user(100, firstName, lastName)
            case .updateUser(let id, let firstName, let lastName): Self.user(id, firstName, lastName)
            case .showAccounts: Data(#"[{"name": "Gringotts"}]"#.utf8)
            }
        }

        private static func user(_ id: Int, _ firstName: String, _ lastName: String) -> Data {
            Data(#"{"id": \#(id), "first_name": "\#(firstName)", "last_name": "\#(lastName)"}"#.utf8)
        }
    }

    struct User: Decodable, Sendable, Equatable {
        let id: Int
        let firstName: String
        let lastName: String
    }

    static let json = ["Content-type: application/json"]

    static let requests: [(MyService, ExampleRequest)] = [
        (.zen, ExampleRequest("GET https://api.myservice.com/zen", json)),
        (.showUser(id: 123), ExampleRequest("GET https://api.myservice.com/users/123", json)),
        (
            .createUser(firstName: "James", lastName: "Potter"),
            ExampleRequest(
                "POST https://api.myservice.com/users",
                json,
                body: #"{"first_name":"James","last_name":"Potter"}"#
            )
        ),
        (
            .updateUser(id: 123, firstName: "Harry", lastName: "Potter"),
            ExampleRequest("POST https://api.myservice.com/users/123?first_name=Harry&last_name=Potter", json)
        ),
        (
            .updateUser(id: 1, firstName: "A & B", lastName: "é=+"),
            ExampleRequest(
                "POST https://api.myservice.com/users/1?first_name=A%20%26%20B&last_name=%C3%A9%3D%2B",
                json
            )
        ),
        (.showAccounts, ExampleRequest("GET https://api.myservice.com/accounts", json)),
    ]

    @Test("Each case produces the expected request", arguments: 0..<requests.count)
    func request(_ row: Int) async throws {
        let (target, expected) = Self.requests[row]
        try await expectRequest(of: target, expected)
    }

    /// The example's `endpointClosure`, which creates the endpoint explicitly.
    static let writtenOut: @Sendable (MyService) -> Endpoint = { target in
        Endpoint(
            url: target.baseURL.absoluteString + target.path,
            method: target.method,
            task: target.task,
            httpHeaderFields: target.headers,
            sampleResponse: { .networkResponse(200, target.sampleData) }
        )
    }

    @Test("An explicit endpoint produces the same requests", arguments: 0..<requests.count)
    func writtenOutEndpoint(_ row: Int) async throws {
        let (target, expected) = Self.requests[row]
        try await expectRequest(of: target, expected, endpoint: Self.writtenOut)
    }

    @Test("A stub responds with each case's sample, with an explicit or a default endpoint", arguments: [true, false])
    func samples(_ isWrittenOut: Bool) async throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let provider = Provider<MyService>(
            transport: StubTransport(),
            endpoint: isWrittenOut ? Self.writtenOut : { Endpoint($0) }
        )
        let shown = try await provider.request(.showUser(id: 3), as: User.self, decoder: decoder)
        #expect(shown == User(id: 3, firstName: "Harry", lastName: "Potter"))
        let created = try await provider.request(
            .createUser(firstName: "James", lastName: "Potter"),
            as: User.self,
            decoder: decoder
        )
        #expect(created == User(id: 100, firstName: "James", lastName: "Potter"))
        #expect(try await provider.request(.showAccounts).mapString(atKeyPath: "0.name") == "Gringotts")
    }

    @Test("An endpoint closure can simulate a network failure", arguments: [true, false])
    func failureEndpoint(_ shouldTimeOut: Bool) async throws {
        let failing: @Sendable (MyService) -> Endpoint = { target in
            var endpoint = Endpoint(target)
            endpoint.sampleResponse = {
                shouldTimeOut ? .networkError(URLError(.timedOut)) : .networkResponse(200, target.sampleData)
            }
            return endpoint
        }
        let provider = Provider<MyService>(transport: StubTransport(), endpoint: failing)
        guard shouldTimeOut else {
            #expect(try await provider.request(.zen).statusCode == 200)
            return
        }
        let error = await pipelineError { _ = try await provider.request(.zen) }
        #expect(error?.code == .timeout(.idle))
        #expect(error?.underlyingError is URLError)
        #expect(error?.response == nil)
        #expect(error?.request?.url?.absoluteString == "https://api.myservice.com/zen")
        // The closure changes only the stub's response, not the request.
        try await expectRequest(
            of: .zen,
            ExampleRequest("GET https://api.myservice.com/zen", Self.json),
            endpoint: failing
        )
    }

    @Test("Any error can simulate a network failure, and is kept as the underlying error")
    func anyFailure() async {
        let provider = Provider<MyService>(transport: StubTransport()) { target in
            var endpoint = Endpoint(target)
            endpoint.sampleResponse = { .networkError(NSError(domain: "moon", code: 7)) }
            return endpoint
        }
        let error = await pipelineError { _ = try await provider.request(.zen) }
        #expect(error?.code == .transport)
        #expect((error?.underlyingError as NSError?)?.code == 7)
    }

    @Test("A completion handler gets the status and the bytes, and can filter and map them", arguments: [200, 404])
    func completion(_ status: Int) async throws {
        let body = #"{"id": 7}"#
        let server = try LoopbackServer { _ in [.respond(status, body: body)] }
        defer { server.stop() }
        let overHTTP = Provider<MyService>(transport: URLSessionTransport()) { target in
            Endpoint(url: server.url.absoluteString + target.path, method: target.method, task: target.task)
        }
        for provider in [Provider(transport: ScriptedTransport([.status(status, body: body)])), overHTTP] {
            let result = await withCheckedContinuation { continuation in
                provider.request(.showUser(id: 7)) { continuation.resume(returning: $0) }
            }
            let response = try result.get()
            #expect(response.statusCode == status)
            #expect(response.data == Data(body.utf8))
            let id = try? (response.filterSuccessfulStatusCodes().mapJSON() as? [String: Any])?["id"] as? Int
            #expect(id == (status == 200 ? 7 : nil))
        }
    }
}
