#if canImport(Testing)
import Foundation
public import PipelineCore
public import PipelineRecording
public import Testing

/// A trait that makes a test, or each test of a suite, use a recording instead of the network.
///
/// ```swift
/// @Test("The zen of GitHub is a sentence", .replay("github"))
/// func zen() async throws {
///     let provider = Provider<GitHub>(transport: .replay)
///     #expect(try await provider.request(.zen).mapString().hasSuffix("."))
/// }
/// ```
///
/// The recording is `Replays/github.har` beside the file that contains the trait. To record it, run the test with the
/// environment variable `PIPELINE_RECORD=recordOnce`, which sends the requests of the test to the network. Without the
/// variable, no connection is opened.
///
/// **Effects**
///
/// - Each test, and each case of a test with arguments, begins with all entries unused. Tests can therefore run in
///   parallel and alone. On a suite, the trait applies to each of its tests.
/// - A replay takes no time: `RetryPlugin` does not wait for its backoff or for a recorded Retry-After.
/// - A test fails if no entry matches a request, even if the test ignores the error of that request. The nearest
///   entries are reported once.
/// - With `failsOnUnusedEntries`, a test fails if it has not used all entries.
/// - While recording, tests with the same file take turns. Each replays what the tests before it have recorded, and
///   records the rest.
/// - The recording is redacted and written when its test ends, even if the test fails.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | mode | the value of `PIPELINE_RECORD`, else ``/PipelineRecording/RecordingMode/replayOnly`` |
/// | `matching` | ``/PipelineRecording/RequestMatching/standard``: method, URL and body |
/// | `atEnd` | ``/PipelineRecording/ReplayEnd/fail``: each entry is replayed once, then requests fail |
/// | `failsOnUnusedEntries` | `false` |
/// | `redactor` | `Redactor.standard`: credentials, cookies and values with secret names |
/// | `recording` | the default transport of `Provider` |
///
/// The folder `Replays` contains no sources. Add it to `exclude` of the test target.
public struct ReplayTrait: TestTrait, SuiteTrait, TestScoping {
    let file: URL
    let matching: RequestMatching
    let end: ReplayEnd
    let failsOnUnusedEntries: Bool
    let redactor: Redactor
    let makeTransport: @Sendable () -> (any Transport)?
    var environment = ProcessInfo.processInfo.environment

    /// `true`: on a suite, the trait applies to each test, not to the suite as a whole.
    public var isRecursive: Bool { true }

    /// Runs a test with its recording.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let scope = ReplayScope(self) { Issue.record("\($0)", sourceLocation: test.sourceLocation) }
        try await scope.run(function)
    }
}

extension Trait where Self == ReplayTrait {
    /// Makes the transport `.replay` use the recording `Replays/<name>.har` beside the file that contains the trait.
    ///
    /// - Parameters:
    ///   - name: the name of the file without `.har`; may be a path.
    ///   - matching: the parts of a request that must equal those of an entry.
    ///   - end: what happens when every matching entry has been used.
    ///   - failsOnUnusedEntries: whether the test fails if it has not used all entries; for a test with its own
    ///     recording.
    ///   - redactor: defines the names and values that are redacted in the recording.
    ///   - transport: sends the requests while recording; defaults to the default transport of `Provider`.
    ///   - path: the path of the test file.
    /// - Returns: the trait, ``ReplayTrait``.
    public static func replay(
        _ name: String,
        matching: RequestMatching = .standard,
        atEnd end: ReplayEnd = .fail,
        failsOnUnusedEntries: Bool = false,
        redactor: Redactor = .standard,
        recording transport: @autoclosure @escaping @Sendable () -> (any Transport)? = nil,
        filePath path: String = #filePath
    ) -> Self {
        let folder = URL(filePath: path).deletingLastPathComponent().appending(path: "Replays")
        return ReplayTrait(
            file: folder.appending(path: name + ".har"),
            matching: matching,
            end: end,
            failsOnUnusedEntries: failsOnUnusedEntries,
            redactor: redactor,
            makeTransport: transport
        )
    }
}
#endif
