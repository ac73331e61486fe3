import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// Rows F12 and T10 of the fault matrix: downloads that are cut, and parts that were not requested.
@Suite("Download faults", .tags(.concurrent), .realTime, .watched)
struct DownloadFaultTests {
    private static let content = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 8)) })

    private let folder = FileManager.default.temporaryDirectory.appending(path: "download-faults-\(UUID().uuidString)")

    private func target(_ server: LoopbackServer, isResumable: Bool) -> Probe {
        var destination = DownloadDestination.file(folder.appending(path: "done"), options: .removePreviousFile)
        if isResumable { destination = destination.resumable(at: folder.appending(path: "part")) }
        return Probe(server, task: .downloadDestination(destination))
    }

    @Test("T10: a download that is cut three times resumes each time", arguments: NetworkTransport.allCases)
    func cuts(transport: NetworkTransport) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let cuts = [500_000, 100_000, 50_000]
        let requestCount = Atomic(0)
        let server = try LoopbackServer { request in
            let index = requestCount.add(1, ordering: .relaxed).oldValue
            let range = request.values(of: "Range").first
            let first = range.flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
            let rest = Self.content[first...]
            let fields =
                range == nil ? "" : "Content-Range: bytes \(first)-\(Self.content.count - 1)/\(Self.content.count)\r\n"
            let head = "HTTP/1.1 \(range == nil ? 200 : 206) Status\r\nETag: \"v1\"\r\n\(fields)"
            let start = LoopbackServer.Action.send(head + "Content-Length: \(rest.count)\r\n\r\n")
            guard index < cuts.count else { return [start, .send(Data(rest)), .close] }
            // AsyncHTTPClient drops what it has not delivered when the connection ends.
            return [start, .send(Data(rest.prefix(cuts[index]))), .hold("\(first + cuts[index])"), .close]
        }
        defer { server.stop() }
        let provider = Provider<Probe>(
            transport: transport.make(),
            plugins: [RetryPlugin(maximumAttempts: 4, backoff: .immediate)]
        )
        var byteCounts: [Int] = []
        for try await step in provider.requestWithProgress(target(server, isResumable: true)) {
            byteCounts.append(step.received.byteCount)
            server.release("\(step.received.byteCount)")
        }
        let ranges = server.requests.map { $0.values(of: "Range").first }
        #expect(ranges == [nil, "bytes=500000-", "bytes=600000-", "bytes=650000-"])
        #expect(server.requests.dropFirst().allSatisfy { $0.values(of: "If-Range") == ["\"v1\""] })
        #expect(byteCounts == byteCounts.sorted())
        #expect(try Data(contentsOf: folder.appending(path: "done")) == Self.content)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["done"])
    }

    @Test(
        "F12: an unrequested 206 with 10 of 100,000 bytes is an error, and the next call works",
        arguments: NetworkTransport.allCases,
        [true, false]
    )
    func unasked(transport: NetworkTransport, isResumable: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let requestCount = Atomic(0)
        let server = try LoopbackServer { _ in
            guard requestCount.add(1, ordering: .relaxed).oldValue == 0 else { return [.respond(200, body: "whole")] }
            let headers = [("Content-Range", "bytes 0-9/100000"), ("ETag", "\"v1\"")]
            return [.respond(206, headers: headers, body: "0123456789")]
        }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make())
        let target = target(server, isResumable: isResumable)
        #expect(try await provider.failureCode(target) == .malformedResponse)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        _ = try await provider.request(target)
        #expect(try Data(contentsOf: folder.appending(path: "done")) == Data("whole".utf8))
    }
}
