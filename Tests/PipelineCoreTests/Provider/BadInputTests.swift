import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Bad input", .watched)
struct BadInputTests {
    // Not modified after the ring is closed, which happens before it is sent.
    final class Ring: Encodable, @unchecked Sendable {
        var next: Ring?

        private enum CodingKeys: String, CodingKey {
            case next
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(next, forKey: .next)
        }
    }

    /// Targets that cannot be sent, or whose response cannot be saved at their destination, with the error codes.
    static func targets(_ folder: TemporaryFolder) -> [(TestTarget, PipelineError.Code)] {
        let ring = Ring()
        ring.next = ring
        func post(_ task: RequestTask) -> TestTarget { TestTarget(method: .post, task: task) }
        func download(_ url: URL, _ options: DownloadDestination.Options = []) -> TestTarget {
            TestTarget(task: .downloadDestination(.file(url, options: options)))
        }
        let missing = folder.file("missing")
        let form: MultipartFormData = [MultipartFormBodyPart(.bytes(Data()), name: "a")]
        return [
            (post(.uploadMultipartFormData([])), .encoding),
            (post(.uploadMultipartFormData([MultipartFormBodyPart(.file(missing), name: "f")])), .file(.unreadable)),
            (post(.uploadMultipartFormData([MultipartFormBodyPart(.file(folder.url), name: "f")])), .file(.directory)),
            (TestTarget(method: .get, task: .uploadMultipartFormData(form)), .invalidRequest(.body)),
            (TestTarget(method: .head, task: .requestStream(.bytes(Data()))), .invalidRequest(.body)),
            (post(.uploadFile(missing)), .file(.unreadable)),
            (post(.uploadFile(folder.url)), .file(.directory)),
            (post(.requestStream(.file(missing))), .file(.unreadable)),
            (post(.requestJSONEncodable(Double.nan)), .encoding),
            (post(.requestJSONEncodable(ring)), .encoding),
            (post(.requestFormURLEncodable(ring)), .encoding),
            (TestTarget(task: .requestQuery(["a": Double.infinity])), .encoding),
            (
                TestTarget(task: .requestParameters(parameters: ["a": Double.nan], encoding: URLEncoding.default)),
                .encoding
            ),
            (
                post(
                    .requestCompositeParameters(
                        bodyParameters: ["a": 1],
                        bodyEncoding: URLEncoding.queryString,
                        urlParameters: [:]
                    )
                ),
                .encoding
            ),
            (download(folder.file("no/such/folder/a")), .file(.notWritable)),
            (download(folder.file("old")), .file(.exists)),
            (download(folder.file("folder"), .removePreviousFile), .file(.directory)),
            (download(folder.file("old/a"), .createIntermediateDirectories), .file(.notWritable)),
        ]
    }

    @Test("B-M17 Each bad input fails with a typed error and leaves no file, and the next call works")
    func table() async throws {
        let folder = try TemporaryFolder()
        try folder.write("old", to: "old")
        try FileManager.default.createDirectory(at: folder.file("folder"), withIntermediateDirectories: false)
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: .status(200, body: "answer")))
        for (row, (target, code)) in Self.targets(folder).enumerated() {
            let error = await pipelineError { _ = try await provider.request(target) }
            #expect(error?.code == code, "row \(row)")
            #expect(error.map { "\($0)".contains(folder.url.path) } == false, "row \(row)")
            #expect(folder.names == ["folder", "old"], "row \(row)")
            #expect(folder.text(of: "old") == "old", "row \(row)")
            #expect(try await provider.request(TestTarget()).mapString() == "answer", "row \(row)")
        }
    }
}
