import Foundation
import Pipeline
import PipelineMoya
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// The samples of the guide MigrateFromMoya that use MoyaProvider.
enum MigrateFromMoyaSamples {
    /// An interceptor as apps write it for Alamofire.
    final class TokenInterceptor: RequestInterceptor {
        private let token: @Sendable (_ renewed: Bool) -> String

        init(_ token: @escaping @Sendable (_ renewed: Bool) -> String) {
            self.token = token
        }

        func adapt(
            _ urlRequest: URLRequest,
            for session: Session,
            completion: @escaping (Result<URLRequest, any Error>) -> Void
        ) {
            var urlRequest = urlRequest
            urlRequest.headers.add(.authorization(bearerToken: token(false)))
            completion(.success(urlRequest))
        }

        func retry(
            _ request: Request,
            for session: Session,
            dueTo error: any Error,
            completion: @escaping (RetryResult) -> Void
        ) {
            guard let response = request.task?.response as? HTTPURLResponse, response.statusCode == 401,
                request.retryCount == 0
            else { return completion(.doNotRetryWithError(error)) }
            _ = token(true)
            completion(.retry)
        }
    }

    static func session(_ tokens: @escaping @Sendable (_ renewed: Bool) -> String) -> MoyaProvider<GitHub> {
        // sample: session
        let session = Session(configuration: .default, interceptor: TokenInterceptor(tokens))
        let moya = MoyaProvider<GitHub>(session: session, plugins: [NetworkLoggerPlugin()])
        session.cancelAllRequests()
        // end
        return moya
    }

    static func provider(
        _ transport: any Transport,
        token: @escaping @Sendable () async -> String?
    ) -> MoyaProvider<GitHub> {
        // sample: provider
        let moya = MoyaProvider<GitHub>(
            transport: transport,
            plugins: [
                NetworkLoggerPlugin(),  // plugins of Moya and of your app
                TimeoutPlugin(total: .seconds(30)),  // plugins of Pipeline, inside all others
                RetryPlugin(),
                PipelinePlugins.AccessTokenPlugin { _ in await token() },
            ]
        )
        // end
        return moya
    }

    static func callByCall(_ moya: MoyaProvider<GitHub>) async throws -> NativeGitHub.User {
        // sample: call by call
        let user = try await moya.provider.request(NativeGitHub.profile("ada"), as: NativeGitHub.User.self)
        // end
        return user
    }
}

@Suite("The samples of the guide MigrateFromMoya", .watched)
struct MigrateFromMoyaSamplesTests {
    @Test("Calls of Moya's interface and native calls share the transport, the retries and the token")
    func shared() async throws {
        let user = ScriptedTransport.Step.status(200, body: #"{"login": "ada"}"#)
        let transport = ScriptedTransport([.status(200, body: "zen"), .failure(.offline), user])
        let moya = MigrateFromMoyaSamples.provider(transport) { "t" }
        #expect(try await moya.request(.zen).mapString() == "zen")
        #expect(try await MigrateFromMoyaSamples.callByCall(moya).login == "ada")
        #expect(transport.sent.map(\.path) == ["/zen", "/users/ada", "/users/ada"])
        #expect(transport.sent.map { $0.headers[.authorization] } == [nil, "Bearer t", "Bearer t"])
    }

    @Test("An interceptor that apps wrote for Alamofire renews the token and sends the request again")
    func interceptor() async throws {
        let renewals = Mutex(0)
        let interceptor = MigrateFromMoyaSamples.TokenInterceptor { renewed in
            renewals.withLock { count in
                if renewed { count += 1 }
                return "token \(count)"
            }
        }
        let transport = ScriptedTransport([.status(401), .status(200, body: "zen")])
        let moya = MoyaProvider<GitHub>(session: Session(transport: transport, interceptor: interceptor))
        #expect(try await moya.request(.zen).mapString() == "zen")
        #expect(transport.sent.map { $0.headers[.authorization] } == ["Bearer token 0", "Bearer token 1"])
        #expect(MigrateFromMoyaSamples.session { _ in "" }.session.interceptor != nil)
    }

    @Test("Both targets ask for the same URL, and only the native one rejects a 404")
    func targets() async throws {
        let transport = ScriptedTransport(always: .status(404, body: "{}"))
        let moya = MigrateFromMoyaSamples.provider(transport) { nil }
        #expect(try await moya.request(.search(query: "a b", page: 2)).statusCode == 404)
        let error = await #expect(throws: PipelineError.self) {
            try await moya.provider.request(NativeGitHub.search(text: "a b", page: 2))
        }
        #expect(error?.code == .unacceptableStatus)
        #expect(Set(transport.sent.map(\.path)) == ["/search/repositories"])
        let items = transport.sent.map { URLComponents(string: $0.url?.absoluteString ?? "")?.queryItems ?? [] }
        #expect(items.first.map(Set.init) == items.last.map(Set.init))
    }
}
