public import PipelineCore
public import PipelineRecording
import Synchronization

/// Runs code with a transport that replays the recording `Replays/<name>.har`, for XCTest, scripts and previews.
///
/// ```swift
/// try await withReplay("notes") { transport in
///     let provider = Provider<Notes>(transport: transport)
///     XCTAssertEqual(try await provider.request(.all, as: [Note].self).count, 2)
/// }
/// ```
///
/// With the environment variable `PIPELINE_RECORD`, it records like the trait `.replay("notes")`, and is subject to the
/// same rules. A request that matches no entry makes it throw, even if the code ignores the error of that request.
///
/// - Parameters:
///   - name: the name of the file without `.har`; may be a path.
///   - matching: the parts of a request that must equal those of an entry.
///   - end: what happens when every matching entry has been used.
///   - failsOnUnusedEntries: whether it throws if the code has not used all entries.
///   - redactor: defines the names and values that are redacted in the recording.
///   - transport: sends the requests while recording; defaults to the default transport of `Provider`.
///   - path: the path of the file beside which the folder `Replays` is.
///   - work: the code; it gets the transport.
/// - Returns: what the code returns.
/// - Throws: the errors of the code, and `PipelineError` of the kind `recording`.
public func withReplay<Value>(
    _ name: String,
    matching: RequestMatching = .standard,
    atEnd end: ReplayEnd = .fail,
    failsOnUnusedEntries: Bool = false,
    redactor: Redactor = .standard,
    recording transport: @autoclosure @escaping @Sendable () -> (any Transport)? = nil,
    filePath path: String = #filePath,
    _ work: (any Transport) async throws -> Value
) async throws -> Value {
    let settings = ReplaySettings(
        file: ReplaySettings.file(name, beside: path),
        matching: matching,
        end: end,
        failsOnUnusedEntries: failsOnUnusedEntries,
        redactor: redactor,
        makeTransport: transport
    )
    let reports = Mutex<[String]>([])
    var value: Value?
    try await ReplayScope(settings, report: { text in reports.withLock { $0.append(text) } })
        .run { value = try await work(TestReplayTransport()) }
    let texts = reports.withLock(\.self)
    guard texts.isEmpty, let value else {
        throw PipelineError(.recording(.noMatch), texts.joined(separator: "\n"))
    }
    return value
}
