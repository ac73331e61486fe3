import Dispatch
import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("GzipPlugin: limits and streams", .tags(.concurrent), .watched)
struct GzipPluginLimitsTests {
    private let text = GzipDecodingTests.text

    static func answer(_ body: PipelineBody, _ coding: String = "gzip") -> ScriptedTransport {
        ScriptedTransport(always: .status(200, headers: [.contentEncoding: coding], body: body))
    }

    // MARK: Limits

    @Test("Z05: only a little of a streamed bomb is read, and the exchange is closed")
    func bombStreamed() async throws {
        let block = GzipBytes.bombBlock
        let pieces = Pieces(block, of: block.count, isEndless: true)
        let body = PipelineBody.stream(Bomb(pieces: pieces))
        let provider = Provider<Ask>(transport: Self.answer(body), plugins: [GzipPlugin()])
        var iterator = try await provider.stream(Ask()).body.makeAsyncIterator()
        var count = 0
        let error = await #expect(throws: PipelineError.self) {
            while let piece = try await iterator.next() { count += piece.count }
        }
        #expect(error?.code == .limit(.decodedBytes))
        #expect(count <= 1 << 20)
        #expect(pieces.takenCount <= 3)
        #expect(pieces.isLetGo)
        // The body never looks complete.
        await #expect(throws: PipelineError.self) { try await iterator.next() }
    }

    @Test("Z05: the inner coding of a bomb is limited by the bytes that have arrived")
    func bombInside() async throws {
        // The final output is small, the intermediate output is not.
        let bomb = GzipBytes.gzip(GzipBytes.gzip(text) + Data(count: 8 << 20))
        let answer = CodedAnswer(body: bomb, coding: "gzip, gzip")
        #expect(try await answer.code(.blocks) == .limit(.decodedBytes))
        #expect(try await answer.code(.memory) == .limit(.decodedBytes))
    }

    @Test("Z05: empty blocks produce no output, and end as truncated")
    func flushBomb() async throws {
        var body = GzipBytes.bombHead
        for _ in 0..<200_000 { body += [0, 0, 0, 0xff, 0xff] }
        for serving in [Serving.memory, .blocks] {
            #expect(try await CodedAnswer(body: body).code(serving) == .contentCoding(.truncated))
        }
    }

    // MARK: Downloads

    @Test(
        "A download does not ask for a coding, and is decoded if it arrives with a supported one",
        arguments: [("gzip", true), ("foo", false)]
    )
    func download(coding: String, isDecoded: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gzip-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "a", directoryHint: .notDirectory)
        let json = GzipBytes.json(300_000)
        let transport = Self.answer(.stream(Pieces(GzipBytes.gzip(json), of: 16_384)), coding)
        let provider = Provider<Ask>(transport: transport, plugins: [GzipPlugin()])
        let destination = DownloadDestination.file(file, options: .createIntermediateDirectories)
        let response = try await provider.request(Ask(task: .downloadDestination(destination)))
        #expect(try Data(contentsOf: file) == (isDecoded ? json : GzipBytes.gzip(json)))
        #expect(response.body.fileURL == file)
        #expect(response.headers.contains(.contentEncoding) == !isDecoded)
        #expect(transport.sent.first?.headers.contains(.acceptEncoding) == false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a"])
    }

    @Test("A damaged download fails and leaves no file")
    func damagedDownload() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gzip-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "a", directoryHint: .notDirectory)
        let body = GzipBytes.gzip(GzipBytes.json(300_000)).dropLast()
        let provider = Provider<Ask>(transport: Self.answer(.stream(Pieces(body, of: 16_384))), plugins: [GzipPlugin()])
        let destination = DownloadDestination.file(file, options: .createIntermediateDirectories)
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(Ask(task: .downloadDestination(destination)))
        }
        #expect(error?.code == .contentCoding(.truncated))
        #expect(((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []) == [])
    }
}

/// The head of a gzip bomb, followed by its blocks.
struct Bomb: AsyncSequence, Sendable {
    let pieces: Pieces

    struct AsyncIterator: AsyncIteratorProtocol {
        let blocks: Pieces.Iterator
        var hasBegun = false

        mutating func next() async throws -> Data? {
            if hasBegun { return try await blocks.next() }
            hasBegun = true
            return GzipBytes.bombHead
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(blocks: pieces.makeAsyncIterator()) }
}
