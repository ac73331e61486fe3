import Foundation
import Pipeline
import PipelineInspector
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@Suite("The server of InspectorPlugin", .realTime, .watched)
struct InspectorServerTests {
    private func get(_ url: URL, _ fields: HTTPFields = [:]) async throws -> PipelineResponse {
        let plugin: any PluginType = .prepare { request, _ in request.headers.append(contentsOf: fields) }
        var target = URLTarget(url.absoluteString)
        target.validationType = .anyStatus
        return try await Provider<URLTarget>(transport: URLSessionTransport(), plugins: [plugin]).request(target)
    }

    @Test("The server shows the calls and their changes, only under its token, and forbids the page everything else")
    func server() async throws {
        let inspector = InspectorPlugin(.loopback())
        let url = try await inspector.page()
        #expect(url.host() == "127.0.0.1")
        #expect(try await inspector.page() == url)
        #expect(url.pathComponents.last?.count == 26)
        _ = try await Provider<URLTarget>(
            transport: ScriptedTransport([.status(200, body: "shown")]),
            plugins: [inspector]
        ).request(
            URLTarget("https://a.test")
        )
        let page = try await get(url)
        #expect(page.headers[.contentType] == "text/html; charset=utf-8")
        #expect(page.headers[.cacheControl] == "no-store")
        let policy = try page.headers[#require(HTTPField.Name("Content-Security-Policy"))]
        #expect(policy?.contains("frame-ancestors 'none'") == true)
        let shown = try InspectedPage.of(String(decoding: page.data, as: UTF8.self))
        #expect(shown.log._pipeline.live)
        #expect(shown.entries.map(\.response.content.text) == ["shown"])
        let data = try #require(URL(string: "data?after=\(shown.log._pipeline.version)", relativeTo: url))
        let changes = try JSONDecoder().decode(InspectedPage.self, from: try await get(data).data)
        #expect(changes.calls.isEmpty)
        #expect(changes.log._pipeline.removed == [])
        let root = try #require(URL(string: "/", relativeTo: url))
        #expect(try await get(root).statusCode == 404)
    }

    @Test(
        "Without its plugin, the server ends; a port that is in use is an error, after which the plugin works"
    )
    func port() async throws {
        var first: InspectorPlugin? = InspectorPlugin(.loopback())
        let url = try #require(try await first?.page())
        let port = try #require(url.port.flatMap { UInt16(exactly: $0) })
        let second = InspectorPlugin(.loopback(port: port))
        let error = await #expect(throws: PipelineError.self) { _ = try await second.page() }
        #expect(error?.code == .recording(.notWritten))
        #expect(error?.reason.contains("\(port)") == true)
        first = nil
        await eventually { (try? await second.page().port) == Int(port) }
    }
}
