import Pipeline
import PipelineRecording
import Testing

@Suite("RecordingMode")
struct RecordingModeTests {
    @Test(
        "PIPELINE_RECORD names a mode",
        arguments: [
            ("none", RecordingMode.none), ("once", .once), ("newEpisodes", .newEpisodes), ("all", .all),
            ("passthrough", .passthrough),
        ]
    )
    func names(word: String, mode: RecordingMode) throws {
        #expect(try RecordingMode.environment(["PIPELINE_RECORD": word]) == mode)
        #expect(mode.description == word)
    }

    @Test("without the variable, and with an empty one, there is no mode", arguments: [[:], ["PIPELINE_RECORD": ""]])
    func absent(environment: [String: String]) throws {
        #expect(try RecordingMode.environment(environment) == nil)
    }

    @Test("an unknown word is a typed error", arguments: ["on", "NONE", "new_episodes"])
    func unknown(word: String) {
        let error = #expect(throws: PipelineError.self) { try RecordingMode.environment(["PIPELINE_RECORD": word]) }
        #expect(error?.code == .recording(.unknownMode))
        #expect(error?.reason.contains("newEpisodes") == true)
    }
}
