import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("MultipartReader", .watched)
struct MultipartReaderTests {
    @Test("Parts have their fields, names and bytes, in order")
    func reads() throws {
        let text =
            "--B\r\ncontent-type:  text/plain; charset=utf-8 \r\nX-Other: \r\n"
            + "CONTENT-DISPOSITION: Form-Data ; NAME=\"é%22\\\";filename=\"\"\r\n\r\n\r\n--\r\n--b\r\n--\0"
            + "\r\n--B\r\nContent-Disposition: form-data;filename=f;other=1;name=n\r\n\r\n"
            + "\r\n--B--\r\n"
        let parts = try MultipartScannerTests.parts(Data(text.utf8))
        #expect(parts.map(\.name) == ["é%22\\", "n"])
        #expect(parts.map(\.fileName) == ["", "f"])
        #expect(parts.map(\.mimeType) == ["text/plain; charset=utf-8", nil])
        #expect(parts.map(\.content) == [Data("\r\n--\r\n--b\r\n--\0".utf8), Data()])
        #expect(
            parts[0].headerLines == [
                "content-type:  text/plain; charset=utf-8 ", "X-Other: ",
                "CONTENT-DISPOSITION: Form-Data ; NAME=\"é%22\\\";filename=\"\"",
            ]
        )
        #expect(parts[1].headerLines.count == 1)
    }

    @Test(
        "An invalid boundary is rejected",
        arguments: [("", 0), (" ", 0), ("a ", 1), ("a\\", 1), ("ab\r", 2), (String(repeating: "x", count: 71), 0)]
    )
    func badBoundary(_ boundary: String, _ offset: Int) throws {
        let start = "multipart/form-data; boundary=\""
        let failure = #expect(throws: MultipartReader.Failure.self) {
            try MultipartReader.parts(of: Data(), contentType: "\(start)\(boundary)\"")
        }
        #expect(failure?.offset == start.utf8.count + offset)
    }

    @Test("A boundary of 70 bytes is accepted")
    func longBoundary() throws {
        let boundary = String(repeating: "x", count: 70)
        let body = Data("--\(boundary)\r\n\(MultipartScannerTests.disposition)\r\n\r\n\r\n--\(boundary)--\r\n".utf8)
        let contentType = "multipart/form-data; boundary=\(boundary)"
        #expect(try MultipartReader.parts(of: body, contentType: contentType).count == 1)
    }

    @Test("A request's body is read with its own Content-Type, up to a limit")
    func request() async throws {
        var request = try PipelineRequest(.post, url: "https://example.com/")
        request.body = .bytes(Data(MultipartScannerTests.body(MultipartScannerTests.disposition).utf8))
        await #expect(throws: MultipartReader.Failure.self) { try await MultipartReader.parts(of: request) }
        request.headers[.contentType] = "multipart/form-data; boundary=B"
        #expect(try await MultipartReader.parts(of: request).map(\.name) == ["a"])
        let error = await #expect(throws: PipelineError.self) {
            try await MultipartReader.parts(of: request, upTo: 10)
        }
        #expect(error?.code == .limit(.bodyBytes))
        request.headers.append(HTTPField(name: .contentType, value: "multipart/form-data; boundary=C"))
        await #expect(throws: MultipartReader.Failure.self) { try await MultipartReader.parts(of: request) }
    }

    @Test("No bytes crash the reader, and truncated bytes are rejected")
    func anyBytes() throws {
        let whole = Data(
            (MultipartScannerTests.body(
                MultipartScannerTests.disposition + "; filename=\"f\"\r\nContent-Type: a/b",
                "x\r\n"
            )).utf8
        )
        var random = PipelineRandom.seeded(46)
        for count in 0..<whole.count {
            #expect(throws: MultipartReader.Failure.self) { try MultipartScannerTests.parts(whole.prefix(count)) }
        }
        for _ in 0..<5_000 {
            var bytes = Array(whole)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            do {
                let parts = try MultipartScannerTests.parts(Data(bytes))
                #expect(parts.count == 1)
            } catch let failure as MultipartReader.Failure {
                #expect((0...bytes.count).contains(failure.offset))
            }
        }
    }
}
