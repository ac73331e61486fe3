import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("URLSessionTransport: requests", .tags(.concurrent), .realTime, .watched)
struct URLSessionUploadTests {
    @Test("Foundation adds at most five fields besides Host")
    func addedFields() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        _ = try await URLSessionTransportTests.makeProvider().request(Probe(server))
        let request = try #require(server.requests.first)
        let names = Set(request.headerLines.map { $0.prefix { $0 != ":" }.lowercased() })
        let added: Set = ["accept", "accept-encoding", "accept-language", "connection", "host", "user-agent"]
        #expect(names.isSubset(of: added), "\(names)")
    }

    @Test("Q05: Host and Content-Length set by the request are not sent twice")
    func framingFields() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let host = try #require(HTTPField.Name("Host"))
        let port = server.port
        let provider = URLSessionTransportTests.makeProvider(
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

    @Test("RFC 9113 §8.2.3: Cookie fields are joined with a semicolon")
    func cookies() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let provider = URLSessionTransportTests.makeProvider(
            URLSessionTransport(),
            .prepare { request, _ in
                for text in ["a=1", "b=2"] { request.headers.append(HTTPField(name: .cookie, value: text)) }
            }
        )
        _ = try await provider.request(Probe(server))
        #expect(server.requests.first?.values(of: "cookie") == ["a=1; b=2"])
    }

    @Test("A method that Foundation would change is refused")
    func changedMethod() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let method = try #require(HTTPRequest.Method("get"))
        let code = try await URLSessionTransportTests.makeProvider().failureCode(Probe(server, method: method))
        #expect(code == .invalidRequest(.method))
        #expect(server.requests.isEmpty)
    }

    @Test("fields that share a name are sent as one field, with values joined by a comma")
    func repeatedFields() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let name = try #require(HTTPField.Name("x-list-ID"))
        let spelling = try #require(HTTPField.Name("X-List-Id"))
        let provider = URLSessionTransportTests.makeProvider(
            URLSessionTransport(),
            .prepare { request, _ in
                request.headers.append(HTTPField(name: name, value: "1"))
                request.headers.append(HTTPField(name: .accept, value: "text/plain"))
                request.headers.append(HTTPField(name: spelling, value: "2"))
            }
        )
        _ = try await provider.request(Probe(server))
        let request = try #require(server.requests.first)
        #expect(request.values(of: "x-list-id") == ["1,2"])
        #expect(request.values(of: "accept") == ["text/plain"])
        #if canImport(FoundationNetworking)
        #expect(request.headerLines.contains("x-list-ID: 1,2"), "\(request.headerLines)")
        #endif
    }

    @Test("a file is sent as the body, without a Content-Type that the request lacks")
    func file() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try bytes.write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let server = try LoopbackServer { _ in [.respond(200)] }
        let provider = URLSessionTransportTests.makeProvider(
            URLSessionTransport(),
            .prepare { request, _ in request.body = .file(url) }
        )
        _ = try await provider.request(Probe(server, method: .put))
        #expect(server.requests.map(\.body) == [bytes])
        #expect(server.requests.first?.values(of: "Content-Length") == ["200000"])
        #expect(server.requests.first?.values(of: "Content-Type") == [])
    }

    @Test("a missing file fails with a file error whose text does not show the path")
    func missingFile() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let url = URL(fileURLWithPath: "/nowhere-to-be-found/secret")
        let provider = URLSessionTransportTests.makeProvider(
            URLSessionTransport(),
            .prepare { request, _ in request.body = .file(url) }
        )
        let error = try #require(await provider.failure(Probe(server, method: .put)))
        #expect(error.code == .file(.unreadable))
        #expect(!"\(error)".contains("nowhere"))
        #expect(server.requests.isEmpty)
    }

    @Test("GET and HEAD with a body are refused before anything is sent", arguments: [HTTPRequest.Method.get, .head])
    func bodyOfGet(method: HTTPRequest.Method) async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let task = RequestTask.requestData(Data("body".utf8))
        let code = try await URLSessionTransportTests.makeProvider().failureCode(
            Probe(server, method: method, task: task)
        )
        #expect(code == PipelineError.Code(rawValue: "invalidRequest.body"))
        #expect(server.activity.connectionCount == 0)
    }

    @Test("GET with an empty body is sent without one")
    func emptyBodyOfGet() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let response = try await URLSessionTransportTests.makeProvider().request(
            Probe(server, task: .requestData(Data()))
        )
        #expect(response.statusCode == 200)
    }

    @Test("a target that Foundation cannot send unchanged is refused")
    func asterisk() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let provider = URLSessionTransportTests.makeProvider(
            URLSessionTransport(),
            .prepare { request, _ in request.head.path = "*" }
        )
        #expect(try await provider.failureCode(Probe(server, method: .options)) == .invalidRequest(.path))
        #expect(server.activity.connectionCount == 0)
    }
}
