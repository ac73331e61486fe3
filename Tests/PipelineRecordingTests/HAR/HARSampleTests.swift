import Foundation
import Pipeline
import PipelineHashes
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Samples recorded by other software", .watched)
struct HARSampleTests {
    private struct Row: Decodable {
        var method: String
        var url: String
        var status: Int
        var responseHeaders: Int
        var responseLen: Int
        var responseSha: String
        var requestLen: Int
        var requestSha: String
    }

    private static func rows(_ name: String) throws -> [Row] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let manifest = HARBench.samples.appending(path: "manifest-mitmproxy.json")
        return try decoder.decode([String: [Row]].self, from: Data(contentsOf: manifest))[name] ?? []
    }

    private func digest(_ data: Data) -> String {
        SHA256.hash([UInt8](data)).prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(
        "Every entry has the length and digest that the manifest lists",
        arguments: HARBench.sampleNames
    )
    func manifest(name: String) throws {
        let file = try HARFile(contentsOf: HARBench.samples.appending(path: name))
        let rows = try Self.rows(name)
        #expect(rows.count == (name.contains("proxy-httpbin") ? 42 : 8))
        try #require(file.count == rows.count)
        for (index, row) in rows.enumerated() {
            let exchange = try file.exchange(at: index)
            #expect(exchange.request.method == row.method)
            // The manifest truncates URLs to 200 characters.
            #expect(exchange.request.url.prefix(200) == row.url)
            let request = exchange.request.body ?? Data()
            #expect(request.count == row.requestLen, "request of \(row.url)")
            #expect(digest(request) == row.requestSha, "request of \(row.url)")
            // For an exchange without a response, mitmproxy's reader returns one with status 0 and no body.
            #expect((exchange.response?.status ?? 0) == row.status, "\(row.url)")
            #expect((exchange.failure != nil) == (row.status == 0), "\(row.url)")
            let body = exchange.response?.body ?? Data()
            #expect(body.count == row.responseLen, "response of \(row.url)")
            #expect(digest(body) == row.responseSha, "response of \(row.url)")
            #expect((exchange.response?.headers.count ?? 0) == row.responseHeaders, "\(row.url)")
            #expect(exchange.start != nil)
            #expect(exchange.duration > .zero && exchange.headDelay <= exchange.duration)
        }
    }

    @Test("Loading and saving a file without changes keeps every byte", arguments: HARBench.sampleNames)
    func unchanged(name: String) throws {
        let bench = try HARBench()
        let sample = HARBench.samples.appending(path: name)
        try HARFile(contentsOf: sample).write(to: bench.url())
        #expect(try Data(contentsOf: bench.url()) == Data(contentsOf: sample))
        #expect(bench.names == ["test.har"])
    }

    @Test("Each entry is unchanged after being written and read again", arguments: HARBench.sampleNames)
    func rewritten(name: String) throws {
        let file = try HARFile(contentsOf: HARBench.samples.appending(path: name))
        for index in 0..<file.count {
            let exchange = try file.exchange(at: index)
            let again = try HAREntry(exchange).exchange(sideFiles: nil)
            #expect(again.request.headers == exchange.request.headers)
            #expect(again.request.body == exchange.request.body)
            #expect(again.request.url == exchange.request.url)
            #expect(again.response?.headers == exchange.response?.headers)
            #expect(again.response?.body == exchange.response?.body)
            #expect(again.response?.status == exchange.response?.status)
            #expect(again.response?.wireByteCount == exchange.response?.wireByteCount)
            #expect(again.failure == exchange.failure)
            #expect(again.headDelay == exchange.headDelay)
            #expect(again.duration == exchange.duration)
        }
    }
}
