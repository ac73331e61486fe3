#if canImport(Testing)
import Foundation
public import PipelineCore
public import PipelineRecording
import Synchronization
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
/// The recording is `Replays/github.har` beside the file that contains the trait. Without a name, `.replay`, each test
/// has its own, `Replays/<Suite>/<test>.har`, and each case of a test with arguments has one, too. To record it, run
/// the test with the environment variable `PIPELINE_RECORD=recordOnce`, which sends the requests of the test to the
/// network. Without the variable, no connection is opened.
///
/// **Effects**
///
/// - Each test, and each case of a test with arguments, begins with all entries unused. Tests can therefore run in
///   parallel and alone. On a suite, the trait applies to each of its tests.
/// - The trait of a test takes the place of that of its suite.
/// - A replay takes no time: `RetryPlugin` does not wait for its backoff or for a recorded Retry-After.
/// - A test fails if no entry matches a request, even if the test ignores the error of that request. The nearest
///   entries are reported once.
/// - With `failsOnUnusedEntries`, a test that passes otherwise fails if it has not used all entries.
/// - While recording, tests with the same file take turns. Each replays what the tests before it have recorded, and
///   records the rest.
/// - The recording is redacted and written when its test ends; standard error shows its path. A test that fails leaves
///   a file that was there as it was. With ``/PipelineRecording/RecordingMode/recordAll``, the first test that passes
///   replaces the file, and others add to it: record a file that tests share with all of them in one run.
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
    /// Its file counts only if it has a name.
    var settings: ReplaySettings
    let hasName: Bool
    /// Tells the traits of a test apart.
    private let identity = Identity()

    private final class Identity: Sendable {}

    /// `true`: on a suite, the trait applies to each test, not to the suite as a whole.
    public var isRecursive: Bool { true }

    /// Runs a test with its recording.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // A trait of the test itself takes the place of those of its suites, which come before it.
        let last = test.traits.last { $0 is ReplayTrait } as? ReplayTrait
        if let last, last.identity !== identity { return try await function() }
        var settings = settings
        if !hasName {
            settings.file = ReplaySettings.file(
                Self.name(of: test, testCase),
                beside: test.sourceLocation.filePath
            )
        }
        let hasFailed = Mutex(false)
        let issues = IssueHandlingTrait.compactMapIssues { issue in
            hasFailed.withLock { $0 = true }
            return issue
        }
        let scope = ReplayScope(
            settings,
            report: { Issue.record("\($0)", sourceLocation: test.sourceLocation) },
            hasFailed: { hasFailed.withLock(\.self) }
        )
        try await scope.run { try await issues.provideScope(for: test, testCase: testCase, performing: function) }
    }

    /// Returns the path of a test's own recording: its suites, its function, and the arguments of the case.
    static func name(of test: Test, _ testCase: Test.Case?) -> String {
        // `create(_:title:)` becomes `create-_-title`.
        var parts = test.id.nameComponents.map { fileName($0.split { "(:)".contains($0) }.joined(separator: "-")) }
        if let testCase, test.isParameterized, let last = parts.popLast() {
            parts.append(([last] + arguments(of: testCase).map(fileName)).joined(separator: "-"))
        }
        return parts.joined(separator: "/")
    }

    /// Returns the texts of a case's arguments, which Swift Testing shows only in its description.
    private static func arguments(of testCase: Test.Case) -> [String] {
        var texts: [String] = []
        func search(_ value: Any, depth: Int) {
            guard depth < 6 else { return }
            for child in Mirror(reflecting: value).children {
                if child.label == "value", depth > 1 {
                    texts.append(child.value as? String ?? String(describingForTest: child.value))
                } else {
                    search(child.value, depth: depth + 1)
                }
            }
        }
        search(testCase, depth: 0)
        return texts
    }

    /// Returns a text as part of a file's name; one that is changed or shortened gets a hash, so that it stays unique.
    static func fileName(_ text: String) -> String {
        let kept = String(
            text.prefix(60).map { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) ? $0 : "-" }
        )
        if kept == text { return text }
        var hash = FNV1a()
        hash.add(text.utf8)
        return kept + "-" + String(hash.value >> 32, radix: 16)
    }
}

extension Trait where Self == ReplayTrait {
    /// Makes the transport `.replay` use the recording of each test's own, `Replays/<Suite>/<test>.har` beside the file
    /// that contains the test.
    public static var replay: Self { replay() }

    /// Makes the transport `.replay` use the recording `Replays/<name>.har` beside the file that contains the trait.
    ///
    /// - Parameters:
    ///   - name: the name of the file without `.har`; may be a path. If it is `nil`, each test and each case of a test
    ///     with arguments has its own recording, named after suite, function and arguments.
    ///   - matching: the parts of a request that must equal those of an entry.
    ///   - end: what happens when every matching entry has been used.
    ///   - failsOnUnusedEntries: whether the test fails if it has not used all entries; for a test with its own
    ///     recording.
    ///   - redactor: defines the names and values that are redacted in the recording.
    ///   - transport: sends the requests while recording; defaults to the default transport of `Provider`.
    ///   - path: the path of the test file.
    /// - Returns: the trait, ``ReplayTrait``.
    public static func replay(
        _ name: String? = nil,
        matching: RequestMatching = .standard,
        atEnd end: ReplayEnd = .fail,
        failsOnUnusedEntries: Bool = false,
        redactor: Redactor = .standard,
        recording transport: @autoclosure @escaping @Sendable () -> (any Transport)? = nil,
        filePath path: String = #filePath
    ) -> Self {
        ReplayTrait(
            settings: ReplaySettings(
                file: ReplaySettings.file(name ?? "", beside: path),
                matching: matching,
                end: end,
                failsOnUnusedEntries: failsOnUnusedEntries,
                redactor: redactor,
                makeTransport: transport
            ),
            hasName: name != nil
        )
    }
}
#endif
