import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("The body of a form", .watched)
struct MultipartFormDataEncodingTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static func chunks(_ texts: [String]) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for text in texts { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
    }

    static func form(_ bodies: PipelineBody...) -> MultipartFormData {
        MultipartFormData(
            boundary: "B",
            parts: bodies.enumerated().map { MultipartFormBodyPart($1, name: "\($0)", fileName: "f", mimeType: "a/b") }
        )
    }

    static func head(_ index: Int) -> String {
        (index == 0 ? "" : "\r\n") + "--B\r\nContent-Disposition: form-data; name=\"\(index)\"; filename=\"f\"\r\n"
            + "Content-Type: a/b\r\n\r\n"
    }

    static let end = "\r\n--B--\r\n"

    @Test("A form in memory is bytes up to 1 MiB, and a larger one is a stream of known length")
    func inMemory() async throws {
        let frame = Self.head(0).utf8.count + Self.head(1).utf8.count + Self.end.utf8.count + 1
        let fits = Data(repeating: 7, count: (1 << 20) - frame)
        for content in [fits, fits + Data([7])] {
            let body = try Self.form(.bytes(content), .bytes(Data("x".utf8))).makeBody().body
            #expect((body.bytes != nil) == (content.count == fits.count))
            #expect(body.byteCount == content.count + frame)
            #expect(body.isReplayable)
            let expected = Data(Self.head(0).utf8) + content + Data((Self.head(1) + "x" + Self.end).utf8)
            for _ in 0..<2 {
                let isSame = try await body.collect(upTo: 2 << 20) == expected
                #expect(isSame)
            }
        }
    }

    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: PipelineBody
        let isKnown: Bool
        let isReplayable: Bool
    }

    private static let kinds = [
        Kind(testDescription: "stream", body: .stream(chunks(["ab", "", "c"])), isKnown: false, isReplayable: false),
        Kind(
            testDescription: "sized",
            body: .stream(chunks(["abc"]), byteCount: 3),
            isKnown: true,
            isReplayable: false
        ),
        Kind(
            testDescription: "replaying",
            body: .stream { chunks(["a", "bc"]) },
            isKnown: false,
            isReplayable: true
        ),
        Kind(
            testDescription: "replaying, sized",
            body: .stream(byteCount: 3) { chunks(["abc"]) },
            isKnown: true,
            isReplayable: true
        ),
    ]

    @Test("B-M36 The length is known if every part's is, and the body is replayable if every part is", arguments: kinds)
    func streams(_ kind: Kind) async throws {
        let file = try folder.file("f", Data("file".utf8))
        let body = try Self.form(.bytes(Data("x".utf8)), kind.body, .file(file)).makeBody().body
        let expected = Self.head(0) + "x" + Self.head(1) + "abc" + Self.head(2) + "file" + Self.end
        #expect(body.byteCount == (kind.isKnown ? expected.utf8.count : nil))
        #expect(body.isReplayable == kind.isReplayable)
        #expect(body.bytes == nil)
        #expect(try await body.text() == expected)
        if kind.isReplayable {
            #expect(try await body.text() == expected)
        } else {
            let error = await #expect(throws: PipelineError.self) { try await body.text() }
            #expect(error?.code == .bodyConsumed)
        }
    }

    @Test("A stream that can be read once fails in the second request that uses it")
    func oneShotPart() async throws {
        let form = Self.form(.stream(Self.chunks(["abc"])))
        #expect(try await form.wire() == Self.head(0) + "abc" + Self.end)
        let error = await #expect(throws: PipelineError.self) { try await form.wire() }
        #expect(error?.code == .bodyConsumed)
    }
}
