import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("httpbin: redirects", .besideHTTPBin, .realTime, .watched)
struct RedirectTests {
    private enum Hops: HTTPBinTarget {
        case mixed(Int)
        case absolute(Int)
        case relative(Int)

        var path: String {
            switch self {
            case .mixed(let count): "/redirect/\(count)"
            case .absolute(let count): "/absolute-redirect/\(count)"
            case .relative(let count): "/relative-redirect/\(count)"
            }
        }
    }

    private func provider<Target: TargetType>(
        of: Target.Type = Target.self,
        _ redirects: RedirectPolicy = .standard
    ) -> Provider<Target> {
        Provider(configuration: .init(redirects: redirects))
    }

    @Test("each hop is an exchange", arguments: ["/redirect", "/absolute-redirect", "/relative-redirect"])
    func chains(kind: String) async throws {
        let target: Hops = kind == "/redirect" ? .mixed(3) : kind == "/relative-redirect" ? .relative(3) : .absolute(3)
        let response = try await provider().request(target)
        #expect(response.statusCode == 200)
        #expect(try response.mapString(atKeyPath: "url") == HTTPBin.url.absoluteString + "/get")
        #expect(response.request.path == "/get")
        #expect(response.exchanges.map(\.statusCode) == [302, 302, 302, 200])
        #expect(response.exchanges.map(\.hop) == [0, 1, 2, 3])
        #expect(response.exchanges.map(\.attempt) == [1, 1, 1, 1])
        // /redirect continues as /relative-redirect.
        let below = kind == "/redirect" ? "/relative-redirect" : kind
        #expect(response.exchanges.map(\.request.path) == ["\(kind)/3", "\(below)/2", "\(below)/1", "/get"])
    }

    @Test("twenty hops are followed, and the twenty-first fails")
    func standardHopCount() async throws {
        #expect(try await provider().request(Hops.relative(20)).exchanges.count == 21)
        let error = try #require(await provider().failure(Hops.relative(21)))
        #expect(error.code == .redirect(.tooMany))
        #expect(error.exchanges.count == 21)
        #expect(error.response?.statusCode == 302)
    }

    @Test("maximumHopCount limits the number of hops", arguments: [0, 1, 2])
    func maximumHopCount(count: Int) async throws {
        let policy = RedirectPolicy(maximumHopCount: count)
        let error = try #require(await provider(policy).failure(Hops.mixed(3)))
        #expect(error.code == .redirect(.tooMany))
        #expect(error.exchanges.count == count + 1)
        if count > 0 { #expect(try await provider(policy).request(Hops.mixed(count)).statusCode == 200) }
    }

    @Test("with redirects disabled, the response is the redirect with its body")
    func none() async throws {
        let response = try await provider(.never).request(Hops.mixed(2))
        #expect(response.statusCode == 302)
        #expect(response.headers[.location] == "/relative-redirect/1")
        #expect(try response.mapString().contains("Redirecting"))
        #expect(response.exchanges.map(\.refusedRedirect) == [.disabled])
    }

    @Test("a filter stops at the redirect that it refuses")
    func filter() async throws {
        let policy = RedirectPolicy { _, next in next.path != "/get" }
        let response = try await provider(policy).request(Hops.mixed(3))
        #expect(response.statusCode == 302)
        #expect(response.exchanges.map(\.refusedRedirect) == [nil, nil, .filter])
    }

    @Test(
        "method and body after a redirect follow RFC 9110",
        arguments: [301, 302, 303, 307, 308],
        [HTTPRequest.Method.get, .head, .post, .put, .patch, .delete]
    )
    func methods(code: Int, method: HTTPRequest.Method) async throws {
        let hasBody = method != .get && method != .head
        let task = hasBody ? RequestTask.requestJSONEncodable(["a": 1]) : .requestPlain
        let target = RedirectTo("/anything", code: code, method: method, task: task)
        let response = try await provider().request(target)
        let becomesGet = code == 303 ? method != .head : code < 303 && method == .post
        #expect(response.exchanges.map(\.request.method) == [method, becomesGet ? .get : method])
        #expect(response.exchanges.map(\.statusCode) == [code, 200])
        guard method != .head else { return #expect(response.data.isEmpty) }
        let echo = try response.map(Echo.self)
        #expect(echo.method == (becomesGet ? "GET" : method.rawValue))
        #expect(echo.data == (hasBody && !becomesGet ? #"{"a":1}"# : ""))
        #expect(echo.headers["Content-Type"] == (hasBody && !becomesGet ? "application/json" : nil))
    }

    @Test(
        "a Location is resolved against the URL of its response",
        arguments: [
            ("get", "/get"), ("./get", "/get"), ("../get", "/get"), ("/get?a=b", "/get?a=b"), ("?url=/get", "/get"),
            ("//127.0.0.1:PORT/get", "/get"), ("http://127.0.0.1:PORT/get#part", "/get"),
            ("/anything/a%20b", "/anything/a%20b"),
        ]
    )
    func locations(location: String, end: String) async throws {
        let location = location.replacing("PORT", with: String(HTTPBin.url.port ?? 0))
        let response = try await provider().request(RedirectTo(location))
        #expect(response.statusCode == 200)
        #expect(try response.mapString(atKeyPath: "url") == HTTPBin.url.absoluteString + end)
    }

    @Test(
        "a Location that is not a valid http URL is not followed",
        arguments: [
            "ftp://127.0.0.1/get", "file:///etc/hostname", "javascript:alert(1)", "data:,x", "http://u:p@127.0.0.1/",
        ]
    )
    func refusedLocations(location: String) async throws {
        let response = try await provider().request(RedirectTo(location))
        #expect(response.statusCode == 302)
        #expect(response.headers[.location] == location)
        #expect(response.exchanges.map(\.refusedRedirect) == [.location])
    }

    @Test("300, 304, 305 and 306 are not followed, whatever their Location", arguments: [300, 304, 305, 306])
    func otherStatuses(code: Int) async throws {
        let response = try await provider().request(RedirectTo("/get", code: code))
        #expect(response.statusCode == code)
        #expect(response.headers[.location] == "/get")
        #expect(response.exchanges.map(\.refusedRedirect) == [nil])
    }

    @Test("a body that can be read only once is not resent", arguments: [(307, 307), (308, 308), (303, 200)])
    func oneShotBody(code: Int, end: Int) async throws {
        let chunks = AsyncStream<Data> { continuation in
            continuation.yield(Data("once".utf8))
            continuation.finish()
        }
        let provider = Provider<RedirectTo>(
            plugins: [.prepare { request, _ in request.body = .stream(chunks) }]
        )
        let response = try await provider.request(RedirectTo("/anything", code: code, method: .post))
        #expect(response.statusCode == end)
        #expect(response.exchanges.first?.refusedRedirect == (end == code ? .bodyNotReplayable : nil))
    }

    @Test("secrets stay on the origin, and other fields follow the redirect", arguments: [true, false])
    func secrets(isOffOrigin: Bool) async throws {
        let key = try #require(HTTPField.Name("X-Key"))
        let provider = Provider<RedirectTo>(
            plugins: [
                .prepare { request, _ in
                    try request.setHeader("Bearer t0ken", for: .authorization)
                    try request.setHeader("a=b", for: .cookie)
                    try request.setHeader("k3y", for: key, isSecret: true)
                    request.headers[.accept] = "application/json"
                }
            ]
        )
        let end = (isOffOrigin ? HTTPBin.otherOrigin : "") + "/anything"
        let echo = try await provider.request(RedirectTo(end, code: 307), as: Echo.self)
        #expect(echo.headers["Authorization"] == (isOffOrigin ? nil : "Bearer t0ken"))
        #expect(echo.headers["Cookie"] == (isOffOrigin ? nil : "a=b"))
        #expect(echo.headers["X-Key"] == (isOffOrigin ? nil : "k3y"))
        #expect(echo.headers["Accept"] == "application/json")
        #expect(echo.headers["Host"]?.hasPrefix(isOffOrigin ? "localhost:" : "127.0.0.1:") == true)
    }

    @Test("secrets are not sent again if a redirect returns to the origin")
    func returning() async throws {
        let back = RedirectTo("/anything").url(on: HTTPBin.url.absoluteString)
        let provider = Provider<RedirectTo>(
            plugins: [.prepare { request, _ in try request.setHeader("Bearer t0ken", for: .authorization) }]
        )
        let response = try await provider.request(RedirectTo(RedirectTo(back).url(on: HTTPBin.otherOrigin)))
        let hosts = response.exchanges.map { $0.request.host?.prefix { $0 != ":" } }
        #expect(hosts == ["127.0.0.1", "localhost", "127.0.0.1", "127.0.0.1"])
        let tokens = response.exchanges.map { $0.request.headers[.authorization] }
        #expect(tokens == ["Bearer t0ken", nil, nil, nil])
        #expect(try response.map(Echo.self).headers["Authorization"] == nil)
    }

    @Test("a streamed call follows a redirect")
    func stream() async throws {
        let streamed = try await provider().stream(RedirectTo("/stream/2"))
        #expect(streamed.statusCode == 200)
        let data = try await streamed.response.body.collect(upTo: 1 << 20)
        #expect(data.split(separator: UInt8(ascii: "\n")).count == 2)
    }
}
