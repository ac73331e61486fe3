import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Replay of recordings from other software", .watched)
struct ReplayedSampleTests {
    @Test("each recorded request gets its recorded response, byte for byte", arguments: HARBench.sampleNames)
    func sample(name: String) async throws {
        let url = HARBench.samples.appending(path: name)
        let file = try HARFile(contentsOf: url)
        let replay = try ReplayTransport(url, redactor: .revealingSecrets)
        let bench = try RecordingBench()
        for index in 0..<file.count {
            let exchange = try file.exchange(at: index)
            let provider = bench.provider(replay) { request in
                request.head = HTTPRequest(
                    method: try #require(HTTPRequest.Method(exchange.request.method)),
                    url: try #require(URL(string: exchange.request.url)),
                    headerFields: exchange.request.headers
                )
                request.body = exchange.request.body.map { .bytes($0) } ?? .absent
            }
            do {
                let response = try await provider.request(bench.target())
                #expect(response.statusCode == exchange.response?.status, "entry \(index)")
                #expect(response.data == exchange.response?.body, "entry \(index)")
                #expect(response.headers[.contentEncoding] == nil, "entry \(index)")
            } catch let error as PipelineError {
                #expect(error.code.rawValue == exchange.failure?.code, "entry \(index): \(error)")
            }
        }
        try replay.recording.assertAllUsed()
    }

    @Test("each recorded request matches its entry after standard redaction", arguments: HARBench.sampleNames)
    func redacted(name: String) async throws {
        let url = HARBench.samples.appending(path: name)
        let file = try HARFile(contentsOf: url)
        let redaction = RecordingRedaction(.standard)
        let bench = try RecordingBench()
        var copy = HARFile()
        for index in 0..<file.count { copy.append(redaction.entry(try file.entry(at: index))) }
        try copy.write(to: bench.file)
        let replay = try ReplayTransport(bench.file)
        for index in 0..<file.count {
            let exchange = try file.exchange(at: index)
            let provider = bench.provider(replay) { request in
                request.head = HTTPRequest(
                    method: try #require(HTTPRequest.Method(exchange.request.method)),
                    url: try #require(URL(string: exchange.request.url)),
                    headerFields: exchange.request.headers
                )
                request.body = exchange.request.body.map { .bytes($0) } ?? .absent
            }
            let code = try await provider.failureCode(bench.target())
            #expect(code?.rawValue == exchange.failure?.code, "entry \(index)")
        }
        try replay.recording.assertAllUsed()
    }
}
