import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("httpbin: ranges", .besideHTTPBin, .realTime, .watched)
struct RangeTests {
    private struct Part: HTTPBinTarget {
        var byteCount = 1_000
        var range: String?
        var method: HTTPMethod = .get

        var path: String { "/range/\(byteCount)" }
        var headers: [String: String]? { range.map { ["Range": "bytes=" + $0] } }
    }

    private let provider = Provider<Part>()

    @Test("a whole resource has status 200, an ETag and Accept-Ranges")
    func whole() async throws {
        let response = try await provider.request(Part())
        #expect(response.statusCode == 200)
        #expect(response.data == rangeSample(0..<1_000))
        #expect(response.headers[.acceptRanges] == "bytes")
        #expect(response.headers[.eTag] == "range1000")
        #expect(response.headers[.contentLength] == "1000")
    }

    @Test(
        "a part has status 206 and its Content-Range",
        arguments: [
            ("0-99", 0..<100), ("100-", 100..<1_000), ("-50", 950..<1_000), ("999-999", 999..<1_000),
            ("13-700", 13..<701),
        ]
    )
    func parts(range: String, bounds: Range<Int>) async throws {
        let response = try await provider.request(Part(range: range))
        #expect(response.statusCode == 206)
        #expect(response.headers[.contentRange] == "bytes \(bounds.lowerBound)-\(bounds.upperBound - 1)/1000")
        #expect(response.headers[.contentLength] == String(bounds.count))
        #expect(response.data == rangeSample(bounds))
    }

    @Test("an unsatisfiable range has status 416", arguments: ["1000-", "900-1000", "5000-6000"])
    func unsatisfiable(range: String) async throws {
        let response = try await provider.request(Part(range: range))
        #expect(response.statusCode == 416)
        #expect(response.headers[.contentRange] == "bytes */1000")
        #expect(response.data.isEmpty)
    }

    @Test("parts add up to the whole, also if streamed")
    func assembled() async throws {
        var data = try await provider.request(Part(byteCount: 102_400, range: "0-9999")).data
        let rest = try await provider.stream(Part(byteCount: 102_400, range: "\(data.count)-"))
        #expect(rest.statusCode == 206)
        for try await chunk in rest.body { data.append(chunk) }
        #expect(data == rangeSample(0..<102_400))
    }

    @Test("HEAD returns the length of the whole")
    func head() async throws {
        let response = try await provider.request(Part(byteCount: 500, method: .head))
        #expect(response.headers[.contentLength] == "500")
        #expect(response.headers[.acceptRanges] == "bytes")
        #expect(response.data.isEmpty)
    }
}
