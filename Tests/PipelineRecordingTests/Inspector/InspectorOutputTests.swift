import Foundation
import Pipeline
import PipelineHashes
import PipelineRecording
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineInspector

@Suite("The page of InspectorPlugin", .realTime, .watched)
struct InspectorOutputTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var file: URL { folder.url.appending(path: "new/calls.html") }

    private func provider(_ inspector: InspectorPlugin, _ transport: ScriptedTransport) -> Provider<URLTarget> {
        Provider(transport: transport, plugins: [inspector])
    }

    @Test("The file is private, loads nothing, and runs only its own script")
    func file() async throws {
        let inspector = InspectorPlugin(.file(file))
        let url = try await inspector.page()
        #expect(url == file)
        let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let text = try String(contentsOf: url, encoding: .utf8)
        let script = try #require(text.range(of: "<script>")?.upperBound)
        let end = try #require(text.range(of: "</script>", range: script..<text.endIndex)?.lowerBound)
        let hash = Data(SHA256.hash(Array(text[script..<end].utf8))).base64EncodedString()
        #expect(text.contains("default-src 'none'; script-src 'sha256-\(hash)'; style-src 'sha256-"))
        let lines = text[script..<end].split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { !$0.isEmpty && !$0.hasPrefix(" ") && !$0.hasPrefix("//") })
        #expect(!text.contains("<!--CSP-->") && !text.contains("<!--STYLE-->") && !text.contains("/*SCRIPT*/"))
    }

    @Test("A body that ends a script or contains a comment is data in the page")
    func markup() async throws {
        let body = "</script><!--<script>&amp;\u{2028}\u{2029}"
        let inspector = InspectorPlugin(.file(file))
        _ = try await provider(inspector, ScriptedTransport([.status(200, body: body)])).request(
            URLTarget("https://a.test")
        )
        let page = try InspectedPage.of(try await inspector.page())
        #expect(page.entries.first?.response.content.text == body)
    }

    @Test("A plugin that is released writes the calls that the file does not have, and only those")
    func release() async throws {
        var inspector: InspectorPlugin? = InspectorPlugin(.file(file))
        do {
            let provider = provider(try #require(inspector), ScriptedTransport([.status(200)]))
            _ = try await provider.request(URLTarget("https://a.test"))
        }
        inspector = nil
        await eventually { (try? InspectedPage.of(file).calls.count) == 1 }
        #expect(try InspectedPage.of(file).calls.count == 1)
        let other = folder.url.appending(path: "other.html")
        inspector = InspectorPlugin(.file(other))
        inspector = nil
        #expect(!FileManager.default.fileExists(atPath: other.path))
    }

    @Test("A file that cannot be written is an error that names it")
    func notWritten() async throws {
        let place = folder.url.appending(path: "place")
        try Data().write(to: place)
        let inspector = InspectorPlugin(.file(place.appending(path: "calls.html")))
        let error = await #expect(throws: PipelineError.self) { _ = try await inspector.page() }
        #expect(error?.code == .recording(.notWritten))
        #expect(error?.reason.contains("calls.html") == true)
    }

    @Test("Changes since a version are the calls that changed and those that were dropped")
    func changes() async throws {
        let calls = InspectedCalls(RecordingRedaction(Redactor()), maximumCount: 2, byteCount: .max)
        func document(after version: Int?) throws -> InspectedPage.Log {
            try JSONDecoder().decode(InspectedPage.self, from: calls.document(after: version, isLive: true)).log
        }
        let probe = ContextProbe()
        _ = try await Provider<URLTarget>(transport: ScriptedTransport([.status(200)]), plugins: [probe]).request(
            URLTarget("https://a.test")
        )
        let context = try #require(probe.context)
        let outcome = try #require(probe.outcome)
        let redaction = RecordingRedaction(Redactor())
        func begin() -> Int { calls.begin(InspectedCall(parentID: nil, context, redaction)) }
        func end(_ id: Int) { calls.end(id, InspectedOutcome(outcome, redaction)) }
        let first = begin()
        let version = calls.version
        #expect(try document(after: nil)._pipeline.calls.map(\.duration) == [nil])
        end(first)
        let second = begin()
        #expect(try document(after: version)._pipeline.calls.map(\.id) == [first, second])
        #expect(try document(after: calls.version)._pipeline.calls.isEmpty)
        let third = begin()
        #expect(try document(after: version)._pipeline.calls.map(\.id) == [second, third])
        #expect(try document(after: version)._pipeline.removed == [first])
        #expect(try document(after: nil)._pipeline.removed == nil)
        // A change of a call that is no longer kept does nothing.
        calls.change(first) { $0.isJoined = true }
        end(first)
        #expect(try document(after: nil)._pipeline.calls.map(\.id) == [second, third])
        // A reader that is too far behind, or that knows a version of another process, gets all calls.
        for _ in 1...5 { _ = begin() }
        #expect(try document(after: version)._pipeline.removed == nil)
        #expect(try document(after: .max)._pipeline.removed == nil)
        #expect(try document(after: version)._pipeline.calls.count == 2)
    }
}

/// A plugin that keeps the context and the outcome of a call.
private final class ContextProbe: Stage.DidFinish {
    private let seen = Mutex<(PipelineContext, Stage.Outcome)?>(nil)

    var context: PipelineContext? { seen.withLock { $0?.0 } }
    var outcome: Stage.Outcome? { seen.withLock { $0?.1 } }

    func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) { seen.withLock { $0 = (context, outcome) } }
}
