import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// Foundation decodes the responses here; the other suites script what the plugin decodes.
@Suite("GzipPlugin over loopback HTTP", .tags(.concurrent), .realTime, .watched)
struct GzipLoopbackTests {
    private let json = GzipBytes.json(50_000)

    private func provider() -> Provider<Ask> {
        Provider(transport: URLSessionTransport(), plugins: [GzipPlugin(requestCompression: .always)])
    }

    @Test("Bytes, a file and a stream arrive compressed, with the correct Content-Length")
    func requests() async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "ok")] }
        defer { server.stop() }
        let file = FileManager.default.temporaryDirectory.appending(path: "gzip-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try json.write(to: file)
        let tasks: [RequestTask] = [
            .requestData(json), .uploadFile(file), .requestStream(.stream(Pieces(json, of: 999))),
        ]
        for task in tasks {
            let target = Ask(
                url: server.url.absoluteString,
                method: .post,
                task: task,
                headers: ["Content-Type": "application/json"]
            )
            #expect(try await provider().request(target).statusCode == 200)
            let request = try #require(server.requests.last)
            #expect(request.values(of: "Content-Encoding") == ["gzip"])
            #expect(request.values(of: "Content-Type") == ["application/json"])
            #expect(GzipBytes.gunzip(request.body) == json)
            #expect(request.values(of: "Content-Length") == [String(request.body.count)])
        }
    }

    @Test("Z10: a response that Foundation decoded is not decoded again; F15: on Linux, Foundation asks for no coding")
    func answers() async throws {
        let json = json
        let server = try LoopbackServer { _ in
            [.respond(200, headers: [("Content-Encoding", "gzip")], body: GzipBytes.gzip(json))]
        }
        defer { server.stop() }
        let target = Ask(url: server.url.absoluteString)
        let response = try await provider().request(target)
        #expect(response.data == json)
        #expect(!response.headers.contains(.contentEncoding))
        let asked = server.requests.flatMap { $0.values(of: "Accept-Encoding") }.joined()
        #if canImport(FoundationNetworking)
        #expect(asked == "identity")
        #else
        #expect(asked.contains("gzip") && asked != "gzip, deflate")
        #endif
        var data = Data()
        for try await piece in try await provider().stream(target).body { data += piece }
        #expect(data == json)
    }

    @Test("A redirect that keeps the method sends the same compressed bytes again")
    func redirect() async throws {
        let server = try LoopbackServer { request in
            request.target == "/b" ? [.respond(307, headers: [("Location", "/c")])] : [.respond(200)]
        }
        defer { server.stop() }
        let target = Ask(url: server.url.absoluteString, method: .post, task: .requestData(json))
        #expect(try await provider().request(target).statusCode == 200)
        #expect(server.requests.map(\.target) == ["/b", "/c"])
        #expect(server.requests.map { GzipBytes.gunzip($0.body) } == [json, json])
        #expect(server.requests.map { $0.values(of: "Content-Encoding") } == [["gzip"], ["gzip"]])
    }
}
