import Pipeline
import PipelineRecording
import TestSupport
import Testing

@Suite("RecordingMode", .watched)
struct RecordingModeTests {
    @Test(
        "PIPELINE_RECORD names a mode",
        arguments: [
            ("replayOnly", RecordingMode.replayOnly), ("recordOnce", .recordOnce), ("recordNew", .recordNew),
            ("recordAll", .recordAll), ("passthrough", .passthrough),
        ]
    )
    func names(word: String, mode: RecordingMode) throws {
        #expect(try RecordingMode.environment(in: ["PIPELINE_RECORD": word]) == mode)
        #expect("\(mode)" == word)
    }

    @Test(
        "the default applies if the variable is missing or empty",
        arguments: [[:], ["PIPELINE_RECORD": ""]]
    )
    func absent(environment: [String: String]) throws {
        #expect(try RecordingMode.environment(in: environment) == .recordOnce)
        #expect(try RecordingMode.environment(otherwise: .replayOnly, in: environment) == .replayOnly)
    }

    @Test("an unknown mode is a typed error", arguments: ["on", "none", "REPLAYONLY", "new_episodes"])
    func unknown(word: String) {
        let error = #expect(throws: PipelineError.self) { try RecordingMode.environment(in: ["PIPELINE_RECORD": word]) }
        #expect(error?.code == .recording(.unknownMode))
        #expect(error?.reason.contains("recordNew") == true)
    }
}
