import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("httpbin: progress", .besideHTTPBin, .realTime, .watched)
struct ProgressTests {
    private struct Slow: HTTPBinTarget {
        var path: String
        var parameters: RequestParameters = [:]
        var task: RequestTask { .requestParameters(parameters: parameters, encoding: URLEncoding.queryString) }
    }

    private func expectOrder(_ steps: [ProgressResponse]) {
        #expect(steps.map(\.progress) == steps.map(\.progress).sorted())
        #expect(steps.allSatisfy { (0...1).contains($0.progress) })
        #expect(steps.map(\.completed).count { $0 } == 1)
        #expect(steps.last?.completed == true)
        #expect(steps.last?.progress == 1)
        #expect(steps.last?.response?.statusCode == 200)
    }

    @Test("a slow response reports its progress")
    func received() async throws {
        let provider = Provider<Slow>()
        var steps: [ProgressResponse] = []
        let target = Slow(path: "/drip", parameters: ["numbytes": 10, "duration": 1])
        for try await step in provider.requestWithProgress(target) { steps.append(step) }
        expectOrder(steps)
        #expect(steps.contains { $0.progress > 0 && $0.progress < 1 })
        #expect(steps.last?.received.byteCount == 10)
        #expect(steps.last?.received.totalByteCount == 10)
        #expect(steps.last?.response?.data == Data(repeating: UInt8(ascii: "*"), count: 10))
    }

    @Test("a body of unknown length reports progress only with the last step")
    func unknownLength() async throws {
        let provider = Provider<Slow>()
        var steps: [ProgressResponse] = []
        for try await step in provider.requestWithProgress(Slow(path: "/stream/20")) { steps.append(step) }
        expectOrder(steps)
        #expect(steps.dropLast().allSatisfy { $0.progress == 0 && $0.received.totalByteCount == nil })
    }

    @Test("an upload reports its progress")
    func sent() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data(repeating: 7, count: 2 << 20).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let provider = Provider<Anything>()
        var steps: [ProgressResponse] = []
        for try await step in provider.requestWithProgress(Anything(method: .put, task: .uploadFile(file))) {
            steps.append(step)
        }
        expectOrder(steps)
        #expect(steps.last?.sent.totalByteCount == 2 << 20)
        #expect(steps.last?.sent.byteCount == 2 << 20)
    }

    @Test("a download reports its progress and arrives in its file")
    func download() async throws {
        struct Letters: HTTPBinTarget {
            let file: URL
            var path: String { "/range/100000" }
            var task: RequestTask {
                .downloadParameters(
                    parameters: ["duration": 1, "chunk_size": 10_000],
                    encoding: URLEncoding.queryString,
                    destination: .file(file)
                )
            }
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let provider = Provider<Letters>()
        var steps: [ProgressResponse] = []
        for try await step in provider.requestWithProgress(Letters(file: file)) { steps.append(step) }
        expectOrder(steps)
        #expect(steps.contains { $0.progress > 0 && $0.progress < 1 })
        #expect(steps.last?.received.totalByteCount == 100_000)
        #expect(try Data(contentsOf: file) == rangeSample(0..<100_000))
    }

    @Test("leaving the loop ends the call")
    func left() async throws {
        let provider = Provider<Slow>()
        let start = ContinuousClock.now
        let target = Slow(path: "/drip", parameters: ["numbytes": 10, "duration": 40])
        for try await step in provider.requestWithProgress(target) where step.received.byteCount > 0 { break }
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect(try await provider.request(Slow(path: "/get")).statusCode == 200)
    }

    @Test("a call that fails ends the loop with its error")
    func failed() async throws {
        let provider = Provider<Slow>()
        let options = RequestOptions { $0.attemptTimeout = .milliseconds(300) }
        let error = await #expect(throws: PipelineError.self) {
            for try await step in provider.requestWithProgress(Slow(path: "/delay/8"), options: options) {
                #expect(!step.completed)
            }
        }
        #expect(error?.code == .timeout(.attempt))
    }
}
