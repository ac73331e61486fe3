import Pipeline
import TestSupport
import Testing

@Suite("httpbin: cookies", .besideHTTPBin, .realTime, .watched)
struct CookieTests {
    private enum Cookies: HTTPBinTarget {
        case list(sending: String?)
        case set([String: String])
        case delete(String)

        var path: String {
            switch self {
            case .list: "/cookies"
            case .set: "/cookies/set"
            case .delete: "/cookies/delete"
            }
        }

        var task: RequestTask {
            switch self {
            case .list: .requestPlain
            case .set(let cookies): .requestParameters(parameters: cookies, encoding: URLEncoding.default)
            case .delete(let name): .requestParameters(parameters: [name: ""], encoding: URLEncoding.default)
            }
        }

        var headers: [String: String]? {
            guard case .list(let cookies?) = self else { return nil }
            return ["Cookie": cookies]
        }
    }

    private func provider(_ redirects: RedirectPolicy = .standard) -> Provider<Cookies> {
        Provider(configuration: .init(redirects: redirects))
    }

    private func seen(_ response: PipelineResponse) throws -> [String: String] {
        try response.map([String: String].self, atKeyPath: "cookies")
    }

    @Test("cookies that the target sends reach the server")
    func sent() async throws {
        let response = try await provider().request(.list(sending: "a=1; b=two; c=x=y"))
        #expect(try seen(response) == ["a": "1", "b": "two", "c": "x=y"])
    }

    @Test("cookies that the server sets stay separate, one field each")
    func set() async throws {
        let response = try await provider(.never).request(.set(["a": "1", "b": "2", "c": "3"]))
        #expect(response.statusCode == 302)
        #expect(response.headers[values: .setCookie] == ["a=1; Path=/", "b=2; Path=/", "c=3; Path=/"])
    }

    @Test("the comma in a cookie's date does not split it")
    func deleted() async throws {
        let response = try await provider(.never).request(.delete("a"))
        let cookies = response.headers[values: .setCookie]
        #expect(cookies == ["a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; Path=/"])
    }

    @Test("cookies are not stored, neither for a redirect nor for the next call")
    func notKept() async throws {
        let provider = provider()
        let redirected = try await provider.request(.set(["a": "1"]))
        #expect(redirected.exchanges.count == 2)
        #expect(try seen(redirected) == [:])
        #expect(try await seen(provider.request(.list(sending: nil))) == [:])
    }
}
