import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("RetryPlugin: resumable downloads", .watched)
struct RetryDownloadTests {
    private static let content = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 8)) })

    private let folder = FileManager.default.temporaryDirectory.appending(path: "retry-download-\(UUID().uuidString)")

    private var target: Ask {
        let destination = DownloadDestination.file(folder.appending(path: "done"), options: .removePreviousFile)
        return Ask(task: .downloadDestination(destination.resumable(at: folder.appending(path: "part"))))
    }

    /// A server that honours Range and ends each connection after the given number of bytes.
    private static func transport(cuts: [Int]) -> ScriptedTransport {
        ScriptedTransport { request, index in
            let range = request.headers[.range]
            let first = range.flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
            let rest = content[first...]
            let sent = index < cuts.count ? rest.prefix(cuts[index]) : rest
            var headers: HTTPFields = [.eTag: "\"v1\""]
            if range != nil { headers[.contentRange] = "bytes \(first)-\(content.count - 1)/\(content.count)" }
            let chunks = AsyncStream<Data> { continuation in
                for start in stride(from: sent.startIndex, to: sent.endIndex, by: 10_000) {
                    continuation.yield(Data(sent[start..<min(start + 10_000, sent.endIndex)]))
                }
                continuation.finish()
            }
            let body = PipelineBody.stream(chunks, byteCount: rest.count)
            return .status(range == nil ? 200 : 206, headers: headers, body: body)
        }
    }

    private func provider(_ transport: ScriptedTransport, maximumAttempts: Int) -> Provider<Ask> {
        let retry = RetryPlugin(maximumAttempts: maximumAttempts, backoff: .immediate)
        return Provider(transport: transport, plugins: [retry], configuration: .init(clock: ManualClock()))
    }

    @Test("T10 Each attempt requests only the bytes not yet received, and progress never decreases")
    func continued() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let transport = Self.transport(cuts: [500_000, 100_000, 50_000])
        var steps: [ProgressResponse] = []
        for try await step in provider(transport, maximumAttempts: 4).requestWithProgress(target) { steps.append(step) }
        let ranges = transport.sent.map { $0.headers[.range] }
        #expect(ranges == [nil, "bytes=500000-", "bytes=600000-", "bytes=650000-"])
        #expect(transport.sent.map { $0.headers[.ifRange] } == [nil, "\"v1\"", "\"v1\"", "\"v1\""])
        let exchanges = try #require(steps.last?.response?.exchanges)
        #expect(exchanges.map(\.statusCode) == [200, 206, 206, 206])
        #expect(exchanges.map(\.failure) == [.truncated, .truncated, .truncated, nil])
        #expect(try Data(contentsOf: folder.appending(path: "done")) == Self.content)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["done"])
        for (step, next) in zip(steps, steps.dropFirst()) {
            #expect(step.progress <= next.progress)
            #expect(step.received.byteCount <= next.received.byteCount)
        }
        #expect(steps.allSatisfy { $0.received.totalByteCount == Self.content.count })
    }

    @Test("B: A call whose response stays in memory does not resume: its next attempt requests the whole body")
    func buffered() async throws {
        let transport = Self.transport(cuts: [500_000])
        let response = try await provider(transport, maximumAttempts: 2).request(Ask(task: .requestPlain))
        #expect(response.data == Self.content)
        #expect(transport.sent.map { $0.headers[.range] } == [nil, nil])
    }

    @Test("T10 A call whose attempts all fail keeps the bytes received, and the next call resumes there")
    func kept() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let transport = Self.transport(cuts: [500_000, 100_000, 50_000])
        let provider = provider(transport, maximumAttempts: 3)
        let error = await #expect(throws: PipelineError.self) { try await provider.request(target) }
        #expect(error?.code == .truncated)
        #expect(try Data(contentsOf: folder.appending(path: "part")) == Self.content.prefix(650_000))
        _ = try await provider.request(target)
        #expect(transport.sent.last?.headers[.range] == "bytes=650000-")
        #expect(try Data(contentsOf: folder.appending(path: "done")) == Self.content)
    }
}
