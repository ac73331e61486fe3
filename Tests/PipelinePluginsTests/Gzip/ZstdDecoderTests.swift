import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("GzipPlugin: zstd", .watched)
struct ZstdDecoderTests {
    private let text = GzipDecodingTests.text

    #if Compression
    @Test("All zstd frames of a body are decoded", arguments: Serving.allCases)
    func frames(serving: Serving) async throws {
        for (coding, body) in GzipTraitsTests.vectors where coding == "zstd" {
            let read = try await CodedAnswer(body: body + body, coding: coding).read(serving)
            #expect(read.data == text + text)
        }
    }
    #endif
}
