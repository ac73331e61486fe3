import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("URLEncoding, escapes", .watched)
struct PercentEncodingTests {
    @Test("M52 A long text of three-byte characters is encoded completely")
    func longText() throws {
        var request = try URLEncodingTests.request()
        try URLEncoding.queryString.encode(["a": String(repeating: "漢", count: 20_000)], into: &request)
        #expect(request.query == "a=" + String(repeating: "%E6%BC%A2", count: 20_000))
    }

    @Test("Keys and values with any characters read back from the query unchanged", arguments: 0..<20)
    func roundTrip(_ seed: UInt64) throws {
        var random = PipelineRandom.seeded(seed)
        for _ in 0..<100 {
            var parameters: [String: String] = [:]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                parameters[random.makeString(upTo: 8)] = random.makeString(upTo: 24)
            }
            var request = try URLEncodingTests.request()
            try URLEncoding.queryString.encode(parameters, into: &request)
            let query = try #require(request.query)
            #expect(
                query.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "+") }
            )

            var parsed: [String: String] = [:]
            for pair in query.split(separator: "&", omittingEmptySubsequences: false) {
                let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
                try #require(parts.count == 2)
                let name = try #require(String(parts[0]).removingPercentEncoding)
                parsed[name] = String(parts[1]).removingPercentEncoding
            }
            #expect(parsed == parameters)
        }
    }
}
