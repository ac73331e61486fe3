import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Recorder", .watched)
struct RecorderTests {
    private final class Reports: Sendable {
        private let errors = Mutex<[PipelineError]>([])
        var all: [PipelineError] { errors.withLock { $0 } }
        func add(_ error: PipelineError) { errors.withLock { $0.append(error) } }
    }

    @Test(
        "A recorder released without finish() reports the error that finish() would throw",
        arguments: [true, false]
    )
    func report(isFinished: Bool) async throws {
        let bench = try RecordingBench()
        let reports = Reports()
        var base = HARFile()
        base.append(
            HAREntry(
                RecordedExchange(
                    request: .init(method: "GET", url: "https://canary.example/"),
                    response: .init(status: 200)
                )
            )
        )
        var recorder: Recorder? = Recorder(
            RecordingOutput(
                file: bench.file,
                base: base,
                journal: try HARJournal(for: bench.file),
                redaction: RecordingRedaction(Redactor(secretValues: ["canary"])),
                isChanged: true
            ),
            byteLimit: 100,
            report: { reports.add($0) }
        )
        if isFinished {
            let error = await #expect(throws: PipelineError.self) { try await recorder?.finish() }
            #expect(error?.code == .recording(.secret))
            #expect(error?.reason.contains("entry 0 (request.url) of \"api.har\"") == true)
        }
        recorder = nil
        #expect(bench.names == ["api.har"])
        #expect(reports.all.map(\.code) == (isFinished ? [] : [.recording(.secret)]))
        #expect(reports.all.allSatisfy { !$0.reason.contains("canary") })
    }
}
