import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("httpbin: bodies with a query", .besideHTTPBin, .realTime, .watched)
struct CompositeTaskTests {
    private let provider = Provider<Anything>()

    @Test(
        "bytes go into the body and parameters into the query",
        arguments: [HTTPRequest.Method.post, .put, .patch, .delete]
    )
    func compositeData(method: HTTPRequest.Method) async throws {
        let task = RequestTask.requestCompositeData(
            bodyData: binarySample,
            urlParameters: ["name": "Zoë & co", "list": [1, 2], "yes": true]
        )
        let echo = try await provider.request(Anything(method: method, task: task), as: Echo.self)
        #expect(bytes(ofDataURL: echo.data) == binarySample)
        #expect(echo.args == ["name": "Zoë & co", "list[]": ["1", "2"], "yes": "1"])
        #expect(echo.form.isEmpty)
        #expect(echo.headers["Content-Type"] == nil)
    }

    @Test("without parameters, the URL has no question mark")
    func noParameters() async throws {
        let task = RequestTask.requestCompositeData(bodyData: Data("body".utf8), urlParameters: [:])
        let echo = try await provider.request(Anything(method: .post, task: task), as: Echo.self)
        #expect(echo.data == "body")
        #expect(echo.url.hasSuffix("/anything"))
    }

    @Test("parameters go into a JSON body and others into the query")
    func compositeJSON() async throws {
        let task = RequestTask.requestCompositeParameters(
            bodyParameters: ["title": "Solaris", "pages": [1, 2]],
            bodyEncoding: JSONEncoding.default,
            urlParameters: ["page": 2, "q": "a b"]
        )
        let response = try await provider.request(Anything(method: .post, task: task))
        let echo = try response.map(Echo.self)
        #expect(echo.args == ["page": "2", "q": "a b"])
        #expect(echo.data == #"{"pages":[1,2],"title":"Solaris"}"#)
        #expect(try response.map([Int].self, atKeyPath: "json.pages") == [1, 2])
        #expect(echo.headers["Content-Type"] == "application/json")
    }

    @Test("parameters go into a form and others into the query")
    func compositeForm() async throws {
        let task = RequestTask.requestCompositeParameters(
            bodyParameters: ["title": "Solaris"],
            bodyEncoding: URLEncoding.httpBody,
            urlParameters: ["title": "of the query"]
        )
        let echo = try await provider.request(Anything(method: .put, task: task), as: Echo.self)
        #expect(echo.args == ["title": "of the query"])
        #expect(echo.form == ["title": "Solaris"])
    }

    @Test("a body encoding that writes into the query is refused")
    func queryForBody() async throws {
        let task = RequestTask.requestCompositeParameters(
            bodyParameters: ["a": 1],
            bodyEncoding: URLEncoding.queryString,
            urlParameters: ["b": 2]
        )
        let error = try #require(await provider.failure(Anything(method: .post, task: task)))
        #expect(error.code == .encoding)
        #expect(error.exchanges.isEmpty)
    }

    @Test("a redirected request with a body uses the query of the Location", arguments: [307, 308])
    func redirected(code: Int) async throws {
        struct Moved: HTTPBinTarget {
            let code: Int
            var path: String { "/redirect-to" }
            var method: HTTPMethod { .post }
            var task: RequestTask {
                .requestCompositeParameters(
                    bodyParameters: ["title": "Solaris"],
                    bodyEncoding: JSONEncoding.default,
                    urlParameters: ["url": "/anything?at=end", "status_code": code]
                )
            }
        }
        let provider = Provider<Moved>()
        let echo = try await provider.request(Moved(code: code), as: Echo.self)
        #expect(echo.method == "POST")
        #expect(echo.args == ["at": "end"])
        #expect(echo.data == #"{"title":"Solaris"}"#)
    }
}
