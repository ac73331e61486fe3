import Foundation
import HTTPTypes
import PipelineCore

extension ConformanceCheck {
    static let download: @Sendable (ConformanceBench) async throws -> Void = { bench in
        let folder = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "file", directoryHint: .notDirectory)
        let task = RequestTask.downloadDestination(.file(file, options: .createIntermediateDirectories))
        let answer = ConformanceAnswer(body: Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 2) }))
        _ = try await bench.makeProvider().request(bench.target("/file", task: task, answer: answer))
        try ConformanceFailure.require(try Data(contentsOf: file) == answer.body, "the file has other bytes")
    }

    static let watchedAnswer: @Sendable (ConformanceBench) async throws -> Void = { bench in
        let script: [LoopbackServer.Action] = [
            .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .hold("rest"), .send("two"),
        ]
        let target = bench.target("/watched", answer: ConformanceAnswer(script: script))
        var data: Data?
        for try await step in bench.makeProvider().requestWithProgress(target) {
            if step.received.byteCount == 3 { bench.server.release("rest") }
            data = step.response?.data ?? data
        }
        try ConformanceFailure.require(data, is: Data("onetwo".utf8), "a body in two pieces")
    }

    static let watchedUpload: @Sendable (ConformanceBench) async throws -> Void = { bench in
        let body = Data(count: 400_000)
        let stream = PipelineBody.stream(byteCount: body.count) {
            AsyncStream { continuation in
                continuation.yield(body)
                continuation.finish()
            }
        }
        for (index, body) in [PipelineBody.bytes(body), stream].enumerated() {
            let target = bench.target("/upload/\(index)", method: .post, task: .requestStream(body))
            var last = ProgressResponse.Transfer()
            for try await step in bench.makeProvider().requestWithProgress(target) {
                try ConformanceFailure.require(
                    step.sent.byteCount >= last.byteCount,
                    "fewer bytes were sent than before"
                )
                last = step.sent
            }
            try ConformanceFailure.require(last.byteCount, is: 400_000, "the count of bytes that were sent")
        }
    }
}
