import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

// sample: multipart target
struct PhotoUpload: TargetType {
    let title: String
    let image: URL

    var baseURL: URL { Endpoint.url("https://photos.example/v1") }
    var path: String { "images" }
    var method: HTTPMethod { .post }
    var task: RequestTask {
        .uploadMultipartFormData([
            MultipartFormBodyPart(.bytes(Data(title.utf8)), name: "title"),
            MultipartFormBodyPart(.file(image), name: "image"),
        ])
    }
}
// end

@Suite("The samples of the guide Requests for forms", .watched)
struct MultipartSamples {
    private static func csvRows() -> AsyncStream<Data> {
        AsyncStream { continuation in
            continuation.yield(Data("a,b\r\n".utf8))
            continuation.finish()
        }
    }

    private static func parts(_ rows: AsyncStream<Data>, _ draft: URL, byteCount: Int) -> [MultipartFormBodyPart] {
        // sample: multipart names
        let report = MultipartFormBodyPart(.file(draft), name: "report", fileName: "Report 2025.pdf")
        let photo = MultipartFormBodyPart(.file(draft), name: "photo", mimeType: "image/x-raw")
        let json = MultipartFormBodyPart(.bytes(Data(#"{"a":1}"#.utf8)), name: "meta", mimeType: .json)
        var note = MultipartFormBodyPart(.file(draft), name: "note")
        note.fileName = nil  // a plain field whose text is in a file
        // end

        // sample: multipart streams
        let once = MultipartFormBodyPart(.stream(rows), name: "table", fileName: "rows.csv")
        let sized = MultipartFormBodyPart(.stream(rows, byteCount: byteCount), name: "table", fileName: "rows.csv")
        let again = MultipartFormBodyPart(.stream { csvRows() }, name: "table", fileName: "rows.csv")
        // end
        return [report, photo, json, note, once, sized, again]
    }

    private static func task(_ parts: [MultipartFormBodyPart]) -> RequestTask {
        // sample: multipart query
        let form = MultipartFormData(boundary: "gc0p4Jq0M2Yt08jU534c0p", parts: parts)
        return .uploadCompositeMultipartFormData(form, urlParameters: ["album": 7])
        // end
    }

    private static func send(_ image: URL, with provider: Provider<PhotoUpload>) async throws -> String {
        // sample: multipart errors
        do {
            _ = try await provider.request(PhotoUpload(title: "Sunset", image: image))
            return "sent"
        } catch let error as PipelineError where error.code.isKind(of: .file) {
            return "the image cannot be read"
        }
        // end
    }

    @Test("An upload sends the title and the image")
    func upload() async throws {
        let image = FileManager.default.temporaryDirectory.appending(component: "\(UUID().uuidString).png")
        try Data("pixels".utf8).write(to: image)
        defer { try? FileManager.default.removeItem(at: image) }
        let transport = ScriptedTransport([.status(201)])
        _ = try await Provider<PhotoUpload>(transport: transport).request(PhotoUpload(title: "Sunset", image: image))

        // sample: multipart test
        let parts = try await MultipartReader.parts(of: try #require(transport.sent.first))
        #expect(parts.map(\.name) == ["title", "image"])
        #expect(parts.map(\.mimeType) == [nil, "image/png"])
        #expect(parts[1].content == Data("pixels".utf8))
        // end
    }

    @Test("The other samples behave as Multipart.md describes")
    func others() async throws {
        let provider = Provider<PhotoUpload>(transport: ScriptedTransport([]))
        #expect(try await Self.send(URL(filePath: "/nowhere/at/all.png"), with: provider) == "the image cannot be read")

        let draft = try TemporaryFolder().file("draft.txt", byteCount: 10)
        let parts = Self.parts(Self.csvRows(), draft, byteCount: 5)
        #expect(
            parts.map(\.fileName) == ["Report 2025.pdf", "draft.txt", nil, nil, "rows.csv", "rows.csv", "rows.csv"]
        )
        #expect(parts.map(\.body.isReplayable) == [true, true, true, true, false, false, true])
        let task = Self.task([MultipartFormBodyPart(.stream { Self.csvRows() }, name: "table")])
        let request = try Endpoint(url: "https://photos.example/v1", method: .post, task: task).makeRequest()
        #expect(request.query == "album=7")
        #expect(try await MultipartReader.parts(of: request).map(\.content) == [Data("a,b\r\n".utf8)])
    }
}
