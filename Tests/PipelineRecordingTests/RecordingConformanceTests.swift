import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Conformance of recording and replay", .realTime, .watched)
struct RecordingConformanceTests {
    /// Creates the transports of successive checks, each with its own file.
    private final class Files: Sendable {
        private let bench: RecordingBench
        private let recorders = Mutex<[RecordingTransport]>([])
        private let replayCount = Mutex(0)

        init() throws { bench = try RecordingBench() }

        private func file(_ number: Int) -> URL { bench.folder.appending(path: "\(number).har") }

        func makeRecorder(_ wrapped: any Transport) -> any Transport {
            recorders.withLock { recorders in
                do {
                    let file = file(recorders.count)
                    let recorder = try RecordingTransport(
                        file,
                        wrapping: wrapped,
                        mode: .recordAll,
                        redactor: .revealingSecrets
                    )
                    recorders.append(recorder)
                    return recorder
                } catch {
                    Issue.record(error)
                    return wrapped
                }
            }
        }

        func finish() async throws {
            for recorder in recorders.withLock({ $0 }) { try await recorder.finish() }
        }

        /// Creates a replay that ignores the port, because the server of a check has a different one each time.
        func makeReplay() -> any Transport {
            let number = replayCount.withLock { count in
                defer { count += 1 }
                return count
            }
            do {
                return try ReplayTransport(
                    file(number),
                    matching: [.method, .path, .query(inOrder: true), .body()],
                    redactor: .revealingSecrets
                )
            } catch {
                Issue.record(error)
                return RecordingBench.forbidden
            }
        }
    }

    @Test(
        "a recorded network transport passes the transport conformance suite",
        arguments: NetworkTransport.allCases
    )
    func recording(transport: NetworkTransport) async throws {
        let files = try Files()
        let violations = await TransportConformance { files.makeRecorder(transport.make()) }.run()
        #expect(violations.isEmpty, "\(violations)")
        try await files.finish()
    }

    @Test("a replay of the recording passes the transport conformance suite", arguments: NetworkTransport.allCases)
    func replay(transport: NetworkTransport) async throws {
        let files = try Files()
        let recorded = await TransportConformance(.recorded) { files.makeRecorder(transport.make()) }.run()
        #expect(recorded.isEmpty, "\(recorded)")
        try await files.finish()
        let violations = await TransportConformance(.recorded) { files.makeReplay() }.run()
        #expect(violations.isEmpty, "\(violations)")
    }
}
