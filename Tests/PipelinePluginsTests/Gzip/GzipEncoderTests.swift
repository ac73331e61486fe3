import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("GzipPlugin: requests in memory", .watched)
struct GzipEncoderTests: GzipSending {
    let transport = ScriptedTransport(always: .status(200))
    private let json = GzipBytes.json(20_000)

    @Test("A body of bytes becomes gzip without a timestamp or a file name", arguments: 1...9)
    func bytes(level: Int) async throws {
        let request = try await sent(.requestData(json), [GzipPlugin(requestCompression: .always, level: level)])
        let gzip = try #require(request.body.bytes)
        #expect(GzipBytes.gunzip(gzip) == json)
        #expect(gzip == GzipBytes.gzip(json, level: Int32(level)))
        #expect(gzip.prefix(8) == Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]))
        #expect(request.headers[values: .contentEncoding] == ["gzip"])
        #expect(!request.headers.contains(.contentLength))
    }

    @Test("Bytes that gzip does not shrink are sent unchanged", arguments: [1, 2, 17, 1_024, 70_000, 600_000])
    func notSmaller(count: Int) async throws {
        let noise = GzipBytes.noise(count)
        let request = try await sent(
            .requestData(noise),
            [GzipPlugin(requestCompression: .always, minimumByteCount: 0)]
        )
        #expect(request.body.bytes == noise)
        #expect(!request.headers.contains(.contentEncoding))
    }

    @Test("gzip is sent only if it is at least one byte shorter than the original")
    func exactlySmaller() async throws {
        var seen: Set<Int> = []
        for count in 10...60 {
            let body = Data(repeating: 0x61, count: count / 2) + GzipBytes.noise(count - count / 2)
            let difference = GzipBytes.gzip(body).count - body.count
            let request = try await sent(
                .requestData(body),
                [GzipPlugin(requestCompression: .always, minimumByteCount: 0)]
            )
            #expect(request.headers.contains(.contentEncoding) == (difference < 0))
            seen.insert(difference)
        }
        #expect(seen.isSuperset(of: [-1, 0]))
    }
}
