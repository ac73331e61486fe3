import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("URLSessionTransport", .timeLimit(.minutes(10)), .tags(.concurrent))
struct URLSessionTransportTests {
    private func makeProvider(
        _ transport: URLSessionTransport = URLSessionTransport(),
        _ plugins: any PluginType...
    ) -> Provider<Probe> {
        Provider(transport: transport, plugins: plugins, redirects: .none)
    }

    @Test("Foundation adds five fields and no others")
    func addedFields() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        _ = try await makeProvider().request(Probe(server))
        let request = try #require(server.requests.first)
        let names = Set(request.headerLines.map { $0.prefix { $0 != ":" }.lowercased() })
        let added: Set = ["accept", "accept-encoding", "accept-language", "connection", "host", "user-agent"]
        #expect(names.isSubset(of: added), "\(names)")
    }

    @Test("Q05: Host and Content-Length of the request do not double what Foundation says")
    func framingFields() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let host = try #require(HTTPField.Name("Host"))
        let port = server.port
        let provider = makeProvider(
            URLSessionTransport(),
            .prepare { request, _ in
                request.headers[host] = "127.0.0.1:\(port)"
                request.headers[.contentLength] = "4"
            }
        )
        _ = try await provider.request(Probe(server, method: .post, task: .requestData(Data("body".utf8))))
        let request = try #require(server.requests.first)
        #expect(request.values(of: "Host") == ["127.0.0.1:\(port)"])
        #expect(request.values(of: "Content-Length") == ["4"])
        #expect(request.body == Data("body".utf8))
    }

    @Test("a file is sent as the body")
    func file() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try bytes.write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let server = try LoopbackServer { _ in [.respond(200)] }
        let provider = makeProvider(URLSessionTransport(), .prepare { request, _ in request.body = .file(url) })
        _ = try await provider.request(Probe(server, method: .put))
        #expect(server.requests.map(\.body) == [bytes])
        #expect(server.requests.first?.values(of: "Content-Length") == ["200000"])
    }

    @Test("a file that is not there is the error file, and its path is not in the text")
    func missingFile() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let url = URL(fileURLWithPath: "/nowhere-to-be-found/secret")
        let provider = makeProvider(URLSessionTransport(), .prepare { request, _ in request.body = .file(url) })
        let error = try #require(await provider.failure(Probe(server, method: .put)))
        #expect(error.code == .file(.unreadable))
        #expect(!"\(error)".contains("nowhere"))
        #expect(server.requests.isEmpty)
    }

    @Test("GET and HEAD with a body are refused before anything is sent", arguments: [HTTPMethod.get, .head])
    func bodyOfGet(method: HTTPMethod) async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let task = RequestTask.requestData(Data("body".utf8))
        let code = try await makeProvider().failureCode(Probe(server, method: method, task: task))
        #expect(code == PipelineError.Code(rawValue: "invalidRequest.body"))
        #expect(server.activity.connectionCount == 0)
    }

    @Test("GET with a body of no bytes is sent without one")
    func emptyBodyOfGet() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let response = try await makeProvider().request(Probe(server, task: .requestData(Data())))
        #expect(response.statusCode == 200)
    }

    @Test("a stream that is larger than the limit is not sent")
    func largeStream() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let provider = Provider<Probe>(
            transport: URLSessionTransport(spooledByteCount: 100),
            plugins: [
                .prepare { request, _ in
                    request.body = .stream { () -> AsyncStream<Data> in
                        AsyncStream { continuation in
                            for _ in 0..<3 { continuation.yield(Data(count: 50)) }
                            continuation.finish()
                        }
                    }
                }
            ]
        )
        #expect(try await provider.failureCode(Probe(server, method: .post)) == .limit(.bodyBytes))
        #expect(server.activity.connectionCount == 0)
    }

    @Test("a target that Foundation cannot send as it is, is refused")
    func asterisk() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let provider = makeProvider(URLSessionTransport(), .prepare { request, _ in request.head.path = "*" })
        #expect(try await provider.failureCode(Probe(server, method: .options)) == .invalidRequest(.path))
        #expect(server.activity.connectionCount == 0)
    }

    @Test("response fields are sorted by name")
    func sortedFields() async throws {
        let server = try LoopbackServer { _ in
            [.respond(200, headers: [("X-C", "3"), ("x-b", "2"), ("X-A", "1"), ("X-B", "4")])]
        }
        let headers = try await makeProvider().request(Probe(server)).headers
        let fields = headers.filter { $0.name.canonicalName.hasPrefix("x-") }.map {
            "\($0.name.canonicalName)=\($0.value)"
        }
        #expect(fields.first == "x-a=1" && fields.last == "x-c=3", "\(fields)")
        #expect(Set(fields.dropFirst().dropLast()).isSubset(of: ["x-b=2", "x-b=4", "x-b=2, 4", "x-b=4, 2"]))
    }

    @Test("interim responses are passed over")
    func interimResponses() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 103 Early\r\nX-Early: 1\r\n\r\nHTTP/1.1 100 Go\r\n\r\n"), .respond(200, body: "late")]
        }
        let response = try await makeProvider().request(Probe(server))
        #expect(response.statusCode == 200)
        #expect(response.data == Data("late".utf8))
    }

    @Test("H12: a change of protocol that nobody asked for is malformedResponse")
    func switchingProtocols() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 101 Switch\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), .close]
        }
        #expect(try await makeProvider().failureCode(Probe(server)) == .malformedResponse)
    }

    @Test("a redirect without a Location and without a body is the response")
    func redirectWithoutLocation() async throws {
        let server = try LoopbackServer { _ in [.respond(308)] }
        #expect(try await makeProvider().request(Probe(server)).statusCode == 308)
    }

    #if canImport(FoundationNetworking)
    @Test("on Linux the body of a redirect without a Location is lost, and the response is not said to be whole")
    func bodyOfRedirectWithoutLocation() async throws {
        let server = try LoopbackServer { _ in [.respond(302, body: "lost")] }
        #expect(try await makeProvider().failureCode(Probe(server)) == .truncated)
    }
    #endif

    @Test("the core follows a redirect that the transport handed over")
    func followedByTheCore() async throws {
        let server = try LoopbackServer { request in
            request.target == "/"
                ? [.respond(302, headers: [("Location", "/next")], body: "old")] : [.respond(200, body: "new")]
        }
        let provider = Provider<Probe>(transport: URLSessionTransport())
        let response = try await provider.request(Probe(server))
        #expect(response.data == Data("new".utf8))
        #expect(response.exchanges.map(\.statusCode) == [302, 200])
    }

    @Test("a stream whose reader is too far behind is limit.unreadBytes")
    func unreadBytes() async throws {
        let server = try LoopbackServer { _ in [.send("HTTP/1.1 200 OK\r\n\r\n"), .send(Data(count: 64 << 20)), .close]
        }
        let provider = makeProvider(URLSessionTransport(unreadByteCount: 100_000))
        let response = try await provider.stream(Probe(server))
        await server.wait { $0.openConnectionCount == 0 }
        let error = await #expect(throws: PipelineError.self) {
            for try await _ in response.body {}
        }
        #expect(error?.code == .limit(.unreadBytes))
    }

    @Test("releasing the transport closes its connections and frees its delegate")
    func release() async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "hello")] }
        weak var delegate: URLSessionExchanges?
        do {
            let transport = URLSessionTransport()
            delegate = transport.delegate
            _ = try await makeProvider(transport).request(Probe(server))
        }
        await server.wait { $0.openConnectionCount == 0 }
        await eventually { delegate == nil }
    }

    @Test("a stream goes on when the transport is released")
    func streamOutlivesTransport() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .hold("rest"), .send("two"), .close]
        }
        let response = try await makeProvider().stream(Probe(server))
        var collected = Data()
        for try await chunk in response.body {
            collected.append(chunk)
            server.release("rest")
        }
        #expect(collected == Data("onetwo".utf8))
    }
}
