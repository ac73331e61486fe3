public import Foundation
import HTTPTypes
public import PipelineCore
import PipelineRecording

/// A plugin that keeps the latest calls and shows them on a page: their exchanges, bodies, times and errors.
///
/// ```swift
/// let inspector = InspectorPlugin(.file(URL(filePath: "calls.html")))
/// let provider = Provider<GitHub>(
///     transport: transport,
///     plugins: [inspector, .standard()],
///     configuration: .init(timeline: true)
/// )
/// …
/// print(try await inspector.page())
/// ```
///
/// Several providers can share a plugin. The page works in any browser, loads nothing from elsewhere, and needs a few
/// kilobytes for each call.
///
/// **Effects**
///
/// - Changes no message, and reads no stream or file: of those, the page shows only header fields and sizes.
/// - Shows what was sent and received in each exchange, with bodies decoded from their content coding. Exchanges that
///   end after their call are not shown.
/// - With ``/Pipeline/ProviderConfiguration/timeline``, the page has a waterfall of plugins, waits and phases of each
///   call; otherwise, of exchanges.
/// - Redacts and keeps an exchange before the plugin returns, which takes tens of microseconds for a small body.
/// - Forgets the oldest calls if there are more calls or bytes than allowed.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `redactor` | `Redactor.standard` | | |
/// | `maximumCallCount` | 1,000 | calls | 1 and up |
/// | `byteCount` | 67,108,864 (64 MiB) | bytes of calls that have ended, as JSON | 0 and up |
/// | `bodyByteCount` | 262,144 (256 KiB) | bytes of a body; of a larger one, only its size is kept | 0 and up |
///
/// **Position**: outermost. Calls that a plugin outside ends before they reach this one have only an outcome, and the
/// page does not show what such a plugin does.
///
/// **Errors**: calls throw none of its own. ``page()`` lists its errors.
///
/// **Secrets**: calls are redacted before they are kept, as recordings are, see `RecordingTransport`: credentials,
/// cookies and values of secret names become `REDACTED`, and values of 16 bytes or more are also replaced elsewhere. A
/// body whose content coding cannot be decoded is not kept.
public final class InspectorPlugin: Stage.Prepare, Stage.DidReceive, Stage.Process, Stage.DidFinish {
    /// Where the page of an ``InspectorPlugin`` is.
    public struct Output: Sendable {
        let make: @Sendable (InspectedCalls) -> any InspectorOutput

        /// A file, which ``InspectorPlugin/page()`` writes with mode 0600.
        ///
        /// If there are calls that it does not show, it is also written when the plugin is released, which then waits
        /// for the disk and prints errors to standard error.
        public static func file(_ url: URL) -> Output { Output { InspectorFile(url, $0) } }
    }

    let calls: InspectedCalls
    private let output: any InspectorOutput
    private let bodyByteCount: Int

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - output: where the page is.
    ///   - redactor: defines the secret names and values; its lists of shown fields and query names are ignored.
    ///   - maximumCallCount: the most calls that are kept, 1 and up.
    ///   - byteCount: the most bytes that are kept, as JSON, 0 and up. The latest call is always kept.
    ///   - bodyByteCount: the largest body that is kept, in bytes, 0 and up.
    public init(
        _ output: Output,
        redactor: Redactor = .standard,
        maximumCallCount: Int = 1_000,
        byteCount: Int = 64 << 20,
        bodyByteCount: Int = 256 << 10
    ) {
        precondition(maximumCallCount >= 1, "maximumCallCount is \(maximumCallCount), not 1 or more")
        precondition(byteCount >= 0, "byteCount is \(byteCount), not 0 or more")
        precondition(bodyByteCount >= 0, "bodyByteCount is \(bodyByteCount), not 0 or more")
        self.bodyByteCount = bodyByteCount
        calls = InspectedCalls(RecordingRedaction(redactor), maximumCount: maximumCallCount, byteCount: byteCount)
        self.output = output.make(calls)
    }

    deinit { output.end() }

    /// Writes the file with the calls so far, or starts the server if it does not run yet.
    ///
    /// - Returns: the URL of the page.
    /// - Throws: `recording.notWritten` if the file cannot be written, or if the server cannot listen on its port.
    public func page() async throws -> URL { try await output.page() }

    // MARK: Stages

    /// Adds the call to the page; does not change the request.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard context.attempt == 1 else { return }
        _ = id(of: context)
    }

    /// Adds an exchange that has ended; does not change the result.
    public func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        guard let exchange = context.exchange else { return }
        var inspected = InspectedExchange(exchange, result, context, bodyByteCount: bodyByteCount)
        let redaction = calls.redaction(for: exchange.request, inspected.recorded.response?.headers ?? [:])
        let entry = inspected.entry(redaction, upTo: bodyByteCount)
        let kept = InspectedEntry(exchange, entry, bodyNote: inspected.bodyNote, isReplayed: context.isReplayed)
        calls.change(id(of: context)) { $0.entries.append(kept) }
    }

    /// Keeps a response that is not that of the last exchange; does not change the result.
    public func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
        guard case .success(let response) = result else { return }
        let source = response.source ?? PipelineResponse.Source(rawValue: "plugin")
        guard context.exchanges.isEmpty || source == .cache || source == .fallback else { return }
        var inspected = InspectedExchange(response, context, bodyByteCount: bodyByteCount)
        let redaction = calls.redaction(for: response.request, response.headers)
        let entry = inspected.entry(redaction, upTo: bodyByteCount)
        let responseNote = inspected.responseNote
        calls.change(id(of: context)) { call in
            call.response = entry.json["response"]
            call.bodyNote = responseNote
            // A response of the network without an exchange is that of another call.
            call.isJoined = source == .network
            call.source = source == .network ? nil : redaction.text(source.rawValue)
            call.cacheStatus = HTTPField.Name("Cache-Status").flatMap { response.headers[values: $0].last }
                .map(redaction.text)
        }
    }

    /// Adds the outcome of the call.
    public func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) {
        let redaction = calls.redaction(for: outcome.exchanges.last?.request)
        calls.end(id(of: context), InspectedOutcome(outcome, redaction))
    }

    // MARK: Numbers

    /// The number of a call on the page, which is unique among the providers that share the plugin.
    private struct Number: Sendable {
        let callID: Int
        let id: Int
    }

    private enum Numbers: PipelineContext.Key {
        static let defaultValue: [ObjectIdentifier: Number] = [:]
        static let isInherited = true
    }

    /// Returns the number of a call on the page, where it is added if it is new.
    private func id(of context: PipelineContext) -> Int {
        let inherited = context[Numbers.self][ObjectIdentifier(self)]
        if let inherited, inherited.callID == context.callID { return inherited.id }
        let parent = context.parentID == inherited?.callID ? inherited?.id : nil
        let id = calls.begin(InspectedCall(parentID: parent, context, calls.redaction()))
        context.update(Numbers.self) { $0[ObjectIdentifier(self)] = Number(callID: context.callID, id: id) }
        return id
    }
}
