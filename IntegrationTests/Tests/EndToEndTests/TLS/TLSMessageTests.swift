import AsyncHTTPClient
import Foundation
import Pipeline
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("TLS: messages", .besideTLSServers, .realTime, .watched)
struct TLSMessageTests {
    private func makeProvider(_ transport: SecureTransport) throws -> Provider<SecureTarget> {
        Provider(transport: try transport.make())
    }

    @Test("the version is HTTP/2 if the server offers it, and otherwise HTTP/1.1", arguments: SecureServer.allCases)
    func version(server: SecureServer) async throws {
        for transport in SecureTransport.trusting {
            let response = try await makeProvider(transport).request(SecureTarget(baseURL: server.url, path: "/echo"))
            #expect(response.headers.text("X-Protocol") == server.version, "\(transport)")
        }
    }

    @Test("with http1Only, the version is HTTP/1.1, whatever the server offers")
    func http1Only() async throws {
        var configuration = try SecureTransport.makeConfiguration()
        configuration.httpVersion = .http1Only
        let provider = Provider<SecureTarget>(transport: AsyncHTTPClientTransport(configuration: configuration))
        let target = SecureTarget(baseURL: SecureServer.http2.url, path: "/echo")
        #expect(try await provider.request(target).headers.text("X-Protocol") == "HTTP/1.1")
    }

    @Test(
        "an exchange records its wait for a new or reused connection, and sends no mark",
        arguments: SecureServer.allCases
    )
    func connectionWait(server: SecureServer) async throws {
        let provider = try makeProvider(.asyncHTTPClient)
        for _ in 1...2 {
            let response = try await provider.request(SecureTarget(baseURL: server.url, path: "/echo"))
            #expect(response.exchanges.map { $0.connectionWait != nil } == [true])
            #expect(try !response.map(SecureEcho.self).fields.contains { $0[0].lowercased().hasPrefix("pipeline") })
        }
    }

    @Test("method, path and fields arrive unchanged", arguments: SecureTransport.trusting, SecureServer.allCases)
    func request(transport: SecureTransport, server: SecureServer) async throws {
        var target = SecureTarget(
            baseURL: server.url,
            path: "/echo/a b;c=d/(e)/~f/%",
            headers: ["X-Empty": "", "X-A": "b  c"]
        )
        for name in ["PATCH", "DELETE", "M-SEARCH", "OPTIONS"] {
            target.method = try #require(HTTPRequest.Method(name))
            let response = try await makeProvider(transport).request(target)
            let echo = try response.map(SecureEcho.self)
            #expect(echo.method == name)
            #expect(echo.target == response.request.head.path)
            #expect(echo.values(of: "X-A") == ["b  c"])
            #expect(echo.values(of: "Host") == [response.request.head.authority])
        }
    }

    @Test("repeated response fields stay separate and in order", arguments: SecureServer.allCases)
    func repeatedFields(server: SecureServer) async throws {
        for transport in SecureTransport.trusting {
            let target = SecureTarget(baseURL: server.url, path: "/cookies")
            let headers = try await makeProvider(transport).request(target).headers
            let cookies = headers[values: .setCookie]
            #expect(cookies == ["a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT", "b=2"], "\(transport)")
            guard transport != .urlSession else { continue }
            let names = ["set-cookie", "x-between", "x-repeat"]
            let ours = headers.filter { names.contains($0.name.canonicalName) }
            #expect(
                ours.map(\.name.canonicalName) == ["set-cookie", "x-between", "set-cookie", "x-repeat", "x-repeat"]
            )
            #expect(ours.suffix(2).map(\.value) == ["one", "two, three"])
        }
    }

    private static let digests: [(byteCount: Int, sha256: String)] = [
        (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
        (1 << 20, "631b84027d6b9e52b539c4e8373622d23032dfadc64d60af87339c9037e4f769"),
        (20 << 20, "99254018a4506cae413a471f8b9d968a1ab1771565f3247b6e1c3f927e9a572f"),
    ]

    @Test("bodies of any size reach the server in full", arguments: SecureTransport.trusting, SecureServer.allCases)
    func upload(transport: SecureTransport, server: SecureServer) async throws {
        let provider = try makeProvider(transport)
        for (byteCount, sha256) in Self.digests {
            let data = pattern(byteCount)
            let chunks = stride(from: 0, to: byteCount, by: 50_000).map { data.dropFirst($0).prefix(50_000) }
            let stream = AsyncStream { continuation in
                for chunk in chunks { continuation.yield(chunk) }
                continuation.finish()
            }
            for task in [RequestTask.requestData(data), .requestStream(.stream(stream))] {
                let target = SecureTarget(baseURL: server.url, path: "/digest", method: .post, task: task)
                let answer = try await provider.request(target).map(SecureCount.self)
                #expect(answer.count == byteCount)
                #expect(answer.sha256 == sha256)
            }
        }
    }

    @Test("bodies of any size reach the client in full", arguments: SecureTransport.trusting, SecureServer.allCases)
    func download(transport: SecureTransport, server: SecureServer) async throws {
        let provider = try makeProvider(transport)
        for (byteCount, _) in Self.digests {
            let target = SecureTarget(baseURL: server.url, path: "/bytes/\(byteCount)")
            #expect(try await provider.request(target).data == pattern(byteCount))
            // URLSession buffers at most 16 MiB for a reader that is slower than the network.
            if transport == .urlSession, byteCount > 8 << 20 { continue }
            var streamed = Data()
            let path = "/stream/\(byteCount)"
            for try await chunk in try await provider.stream(SecureTarget(baseURL: server.url, path: path)).body {
                streamed.append(chunk)
            }
            #expect(streamed == pattern(byteCount))
        }
    }

    @Test("HEAD, 204 and 304 have no body", arguments: SecureTransport.trusting, SecureServer.allCases)
    func bodiless(transport: SecureTransport, server: SecureServer) async throws {
        let provider = try makeProvider(transport)
        let head = try await provider.request(SecureTarget(baseURL: server.url, path: "/bytes/1000", method: .head))
        #expect(head.headers[.contentLength] == "1000")
        #expect(head.data.isEmpty)
        for status in [204, 304] {
            let response = try await provider.request(SecureTarget(baseURL: server.url, path: "/status/\(status)"))
            #expect(response.statusCode == status)
            #expect(response.data.isEmpty)
        }
        #expect(
            try await provider.request(SecureTarget(baseURL: server.url, path: "/status/404")).data
                == Data("a body".utf8)
        )
    }

    @Test(
        "the core follows redirects, with the body for 307, and sends no secret to another origin",
        arguments: SecureTransport.trusting,
        SecureServer.allCases
    )
    func redirect(transport: SecureTransport, server: SecureServer) async throws {
        let provider = try makeProvider(transport)
        let other = "https://localhost:\(try #require(server.url.port))/echo"
        for (status, location, method) in [(302, "/echo", "GET"), (307, "/echo", "POST"), (307, other, "POST")] {
            let target = SecureTarget(
                baseURL: server.url.appending(queryItems: [URLQueryItem(name: "to", value: location)]),
                path: "/redirect/\(status)",
                method: .post,
                task: .requestData(Data("body".utf8)),
                headers: ["Authorization": "Bearer secret"]
            )
            let response = try await provider.request(target)
            #expect(response.exchanges.map(\.statusCode) == [status, 200])
            let echo = try response.map(SecureEcho.self)
            #expect(echo.method == method)
            #expect(echo.body == (method == "POST" ? "body" : ""))
            #expect(echo.values(of: "Authorization") == (location == other ? [] : ["Bearer secret"]))
        }
    }

    @Test(
        "too many response fields fail with a typed error, and the next call succeeds",
        arguments: SecureTransport.trusting,
        ["/fields/1001/1", "/fields/70/1000", "/fields/1/70000"]
    )
    func limits(transport: SecureTransport, path: String) async throws {
        for server in SecureServer.allCases {
            // See the next test.
            if transport == .urlSession, server == .http2 { continue }
            let provider = try makeProvider(transport)
            let error = await provider.failure(SecureTarget(baseURL: server.url, path: path))
            let codes: [PipelineError.Code] = [.limit(.headerCount), .limit(.headerBytes), .malformedResponse]
            let cause = String(describing: error?.underlyingError)
            #expect(error.map { codes.contains($0.code) } == true, "\(server) \(cause)")
            if path == "/fields/1/70000" || server == .http1 { #expect(error?.code.isKind(of: .limit) == true) }
            #expect(try await provider.request(SecureTarget(baseURL: server.url, path: "/echo")).statusCode == 200)
        }
    }

    #if canImport(FoundationNetworking)
    @Test(
        "on Linux, URLSession with HTTP/2 fails on header fields of more than 64 KiB",
        .enabled(if: TLSServers.isTrustedBySystem)
    )
    func largeFieldsOverHTTP2() async throws {
        let configuration = URLSessionTransport.makeDefaultConfiguration()
        configuration.timeoutIntervalForRequest = 1
        let provider = Provider<SecureTarget>(transport: URLSessionTransport(configuration: configuration))
        let error = await provider.failure(SecureTarget(baseURL: SecureServer.http2.url, path: "/fields/70/1000"))
        #expect(error?.code.isKind(of: .timeout) == true || error?.code == .limit(.headerBytes))
    }
    #endif

    @Test(
        "I8: a body that the server cannot finish fails with truncated",
        arguments: SecureTransport.trusting,
        SecureServer.allCases
    )
    func broken(transport: SecureTransport, server: SecureServer) async throws {
        let provider = try makeProvider(transport)
        let error = await provider.failure(SecureTarget(baseURL: server.url, path: "/broken", method: .post))
        #expect(error?.code == .truncated, "\(String(describing: error?.underlyingError))")
        #expect(try await provider.request(SecureTarget(baseURL: server.url, path: "/echo")).statusCode == 200)
    }
}
