#if canImport(Testing)
import Foundation
public import Pipeline
public import PipelineRecording
public import Testing

/// Lets a test, or each test of a suite, talk to a recording instead of the network.
///
/// ```swift
/// @Test("The zen of GitHub is a sentence", .replay("github"))
/// func zen() async throws {
///     let provider = Provider<GitHub>(transport: .replay)
///     #expect(try await provider.request(.zen).mapString().hasSuffix("."))
/// }
/// ```
///
/// The recording is `Replays/github.har` beside the file in which the trait is written. It is made by running the test with the
/// environment variable `PIPELINE_RECORD=once`, which sends what the test sends to the network. Without the variable there
/// is no network.
///
/// **Effects**
///
/// - Each test, and each case of a test with arguments, begins with all entries unused, so that tests may run at once and
///   alone. On a suite the trait stands for each of its tests.
/// - A replay takes no time: `RetryPlugin` does not wait for its backoff or for a recorded Retry-After.
/// - A test fails when the recording does not answer a request, with what was nearest to it, also when nobody looks at the error of
///   that request.
/// - With ``Unused/fail`` a test fails when entries are left over.
/// - While recording, tests with one file wait for each other. What the first of them has recorded answers the others; they add
///   what it does not answer.
/// - A recording is written when its test ends, also when the test fails; secrets are redacted before.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | mode | `PIPELINE_RECORD`, else replay only |
/// | `matching` | ``PipelineRecording/RequestMatching/standard``: method, URL and body |
/// | `atEnd` | an entry answers once, then requests fail |
/// | `unused` | entries may be left over |
/// | `redactor` | credentials, cookies and what has a secret name |
/// | `recording` | the transport of a `Provider` that is given none |
///
/// The folder `Replays` holds no sources: name it in the test target's `exclude`.
public struct ReplayTrait: TestTrait, SuiteTrait, TestScoping {
    /// What it means that no request has used an entry when the test ends.
    public struct Unused: Sendable, Hashable {
        let isFailure: Bool

        /// Nothing.
        public static let allow = Unused(isFailure: false)
        /// The test fails; for a test that has a recording of its own.
        public static let fail = Unused(isFailure: true)
    }

    let file: URL
    let matching: RequestMatching
    let end: SequenceEnd
    let unused: Unused
    let redactor: Redactor
    let makeTransport: @Sendable () -> (any Transport)?
    var environment = ProcessInfo.processInfo.environment

    /// The tests of a suite one by one, not the suite as a whole.
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
    /// Lets the transport `.replay` answer from `Replays/<name>.har`, beside the file in which this is written.
    ///
    /// - Parameters:
    ///   - name: of the file, without `.har`; may have folders in it.
    ///   - matching: what makes a request the same as a recorded one.
    ///   - end: what answers when each entry that matches has been used.
    ///   - unused: what entries mean that are left over.
    ///   - redactor: whose secret names and values are hidden in what is recorded.
    ///   - transport: where requests go while recording; by default what a `Provider` takes that is given none.
    ///   - path: of the file of the test.
    /// - Returns: a trait; its text says more.
    public static func replay(
        _ name: String,
        matching: RequestMatching = .standard,
        atEnd end: SequenceEnd = .fail,
        unused: ReplayTrait.Unused = .allow,
        redactor: Redactor = .standard,
        recording transport: @autoclosure @escaping @Sendable () -> (any Transport)? = nil,
        filePath path: String = #filePath
    ) -> Self {
        let folder = URL(filePath: path).deletingLastPathComponent().appending(path: "Replays")
        return ReplayTrait(
            file: folder.appending(path: name + ".har"),
            matching: matching,
            end: end,
            unused: unused,
            redactor: redactor,
            makeTransport: transport
        )
    }
}
#endif
