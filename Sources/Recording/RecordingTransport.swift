public import Foundation
import HTTPTypes
public import PipelineCore

/// A transport that records the exchanges of another transport in a HAR file, and replays the exchanges in that file.
///
/// ```swift
/// let transport = try RecordingTransport(file, wrapping: URLSessionTransport(), mode: .recordNew)
/// let provider = Provider<GitHub>(transport: transport)
/// …
/// try await transport.finish()
/// ```
///
/// **Effects**
///
/// - ``RecordingMode`` decides which requests are sent and recorded, and which are replayed.
/// - Entries have the order in which the requests began, whatever the order in which they ended.
/// - Bodies are passed on as they arrive. An exchange is recorded when its body has been read to its end or has failed.
///   If the reader stops earlier, the entry contains what was read, and its replay fails with `truncated` after that.
///   An exchange that the caller cancels is not recorded. A failure is recorded by its code.
/// - ``finish()`` writes the file. If it is not called, the file is written when the transport is released; the release
///   waits for the disk and prints errors to standard error. The new file replaces the old one in one step.
/// - Until the file is written, a journal beside it holds the recorded entries, and another recorder of the same file
///   fails. ``RecordingMode/recordNew`` takes over the journal of a process that was killed. Modes that record all
///   requests discard it.
/// - A mode that records creates the folder of the file, and the folders that contain it, if they are missing.
/// - Calls do not wait for the journal. An entry is written to it shortly after its exchange has ended. While 1,000
///   entries wait for a stalled disk, further entries are kept only in memory.
/// - A body of more than 1 MiB is stored in its own file, in a folder beside the HAR file.
/// - A request is compared as ``RequestMatching`` describes, and uses the first matching entry that no other request
///   has used. Where an entry is redacted, the request may have any value. ``RecordingMode/recordNew`` adds no entry
///   for a request that the file contains in the same form.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `mode` | the value of `PIPELINE_RECORD`, else ``RecordingMode/recordOnce`` | | |
/// | `matching` | ``RequestMatching/standard`` | | |
/// | `atEnd` | ``ReplayEnd/fail`` | | |
/// | `pace` | ``ReplayPace/immediate`` | | |
/// | `redactor` | `Redactor.standard` | | |
/// | `expiry` | ``RecordingExpiry/never`` | | |
/// | `bodyByteCount` | 67,108,864 (64 MiB) | bytes of a body | 0 and up |
///
/// **Errors**
///
/// - From the initializer: `recording.missingFile` and `recording.corrupt` if the file cannot be read;
///   `recording.notWritten` if the folder cannot be created or written to; `recording.busy` if another recorder is
///   writing the file.
/// - From a request that is not sent: `recording.noMatch` if no entry matches, with the differences from up to three
///   nearest entries; `recording.usedUp` if every matching entry has been used; `recording.expired`; `limit.bodyBytes`
///   if a body that is compared is larger than `bodyByteCount`; `recording.notWritten` after ``finish()``;
///   `recording.secret` if a field, the URL or a body in memory contains a redacted value of a replayed
///   response, such as a token.
/// - Errors of the wrapped transport pass through. A body that is too large to be recorded is passed on, and
///   ``finish()`` fails with `recording.notWritten`.
///
/// **Secrets**: entries are redacted before they are stored, and requests before they are compared. The redactor
/// defines the secret names and values; its lists of shown fields and query names are ignored.
///
/// - By name, at any length: credentials, cookies, fields with secret names, user names and passwords of URLs, and
///   values of secret names in queries, forms, JSON and multipart bodies become `REDACTED`; numbers become 0.
/// - By value, everywhere: declared values, and values of secret fields and query items of the requests and of cookies
///   of their responses. The latter must have 16 bytes or more and not be a host, path, URL, date or plain word.
/// - The scheme and host of a URL and the slashes of its path are kept.
/// - ``finish()`` fails with `recording.secret` if the written file still contains such a value, or one of 8 to 15
///   bytes. The error names the cookie or field, the entries and the member. For a value of 8 to 15 bytes that does not
///   mix digits and letters, it prints a warning to standard error instead. `Redactor.adding(plainNames:plainValues:)`
///   lists what is not secret.
/// - Only the owner can read the file and the journal. The journal may contain a value that only a later request shows
///   to be secret.
///
/// Source: HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/
public final class RecordingTransport: Transport {
    /// The mode, which decides when requests are sent and recorded, and when they are replayed.
    public let mode: RecordingMode

    private let file: URL
    private let wrapped: any Transport
    private let playback: Playback?
    let recorder: Recorder?
    private let recordsMisses: Bool

    /// Creates a transport.
    ///
    /// If the mode replays from the file, reads the file, which blocks the calling thread.
    ///
    /// - Parameters:
    ///   - file: the HAR file.
    ///   - transport: the transport that sends the requests to record.
    ///   - mode: when to record; defaults to the value of `PIPELINE_RECORD`, else ``RecordingMode/recordOnce``.
    ///   - matching: the parts of a request that must equal those of an entry.
    ///   - end: what happens when every matching entry has been used.
    ///   - pace: how long replayed exchanges take.
    ///   - redactor: defines the secret names and values.
    ///   - expiry: the age up to which an entry may be replayed.
    ///   - bodyByteCount: the size of the largest body that is recorded or compared, in bytes; 0 or more.
    /// - Throws: ``/Pipeline/PipelineError`` with a code of the kind `recording`.
    public init(
        _ file: URL,
        wrapping transport: any Transport,
        mode: @autoclosure () throws -> RecordingMode = try .environment(),
        matching: RequestMatching = .standard,
        atEnd end: ReplayEnd = .fail,
        pace: ReplayPace = .immediate,
        redactor: Redactor = .standard,
        expiry: RecordingExpiry = .never,
        bodyByteCount: Int = 64 << 20
    ) throws {
        precondition(bodyByteCount >= 0, "bodyByteCount is \(bodyByteCount), not 0 or more")
        let rules = Playback.Rules(
            matching: matching,
            end: end,
            pace: pace,
            redaction: RecordingRedaction(redactor),
            expiry: expiry,
            bodyByteCount: bodyByteCount
        )
        let mode = try mode()
        self.file = file
        self.mode = mode
        wrapped = transport
        recordsMisses = mode == .recordNew
        (playback, recorder) = try Self.open(file, mode, rules)
    }

    /// Locks the file before it is read, so that no other recorder writes it in between.
    private static func open(
        _ file: URL,
        _ mode: RecordingMode,
        _ rules: Playback.Rules
    ) throws -> (Playback?, Recorder?) {
        switch mode {
        case .passthrough: return (nil, nil)
        case .replayOnly: return (try Playback(HARFile(contentsOf: file), at: file, mode: mode, rules), nil)
        case .recordOnce:
            if !rules.expiry.rerecords, let har = try load(file) {
                return (try Playback(har, at: file, mode: mode, rules), nil)
            }
        case .recordAll, .recordNew: break
        }
        let journal = try HARJournal(for: file)
        let loaded = mode == .recordAll ? nil : try load(file)
        guard loaded != nil || mode == .recordNew else {
            try journal.clear()
            let output = RecordingOutput(file: file, journal: journal, redaction: rules.redaction)
            return (nil, Recorder(output, byteLimit: rules.bodyByteCount))
        }
        let (har, isChanged) = try adding(journal, to: loaded ?? HARFile(), rules.redaction)
        let playback = try Playback(har, at: file, mode: mode, rules)
        let output = RecordingOutput(
            file: file,
            base: har,
            journal: journal,
            redaction: rules.redaction,
            isChanged: isChanged,
            isKnown: { playback.holds($0) }
        )
        return (playback, Recorder(output, byteLimit: rules.bodyByteCount))
    }

    /// Adds the journal entries of a killed recorder to those of the file, except those that it had already written.
    private static func adding(
        _ journal: HARJournal,
        to har: HARFile,
        _ redaction: RecordingRedaction
    ) throws -> (HARFile, isChanged: Bool) {
        var har = har
        let left = try journal.entries()
        // The written entry may be redacted further than the journal, and have bodies in side files.
        var written: [[String]: [RecordedExchange.Request]] = [:]
        for index in max(0, har.count - left.count)..<har.count {
            written[try identity(of: har.entry(at: index)), default: []].append(try har.exchange(at: index).request)
        }
        for entry in left {
            let request = try entry.exchange(sideFiles: nil).request
            let identity = identity(of: entry)
            if let index = written[identity]?.firstIndex(where: { isSame($0, request) }) {
                written[identity]?.remove(at: index)
            } else {
                har.append(redaction.entry(entry))
            }
        }
        return (har, !left.isEmpty)
    }

    /// Returns the parts of an entry that redaction does not change.
    private static func identity(of entry: HAREntry) -> [String] {
        let parts = [entry.json["startedDateTime"], entry.json["time"], entry.json["response"]?["status"]]
        return parts.map { $0.map { String(decoding: $0.data(), as: UTF8.self) } ?? "" }
    }

    private static func isSame(_ first: RecordedExchange.Request, _ second: RecordedExchange.Request) -> Bool {
        let (first, second) = (MatchedRequest(first), MatchedRequest(second))
        return RequestMatching.standard.parts.flatMap(\.kinds).allSatisfy { first.resembles(second, in: $0) }
    }

    private static func load(_ file: URL) throws -> HARFile? {
        do {
            return try HARFile(contentsOf: file)
        } catch let error as PipelineError where error.code == .recording(.missingFile) {
            return nil
        }
    }

    /// The name of the wrapped transport, and the mode.
    public var name: String { "RecordingTransport(\(wrapped.name), \(mode))" }

    /// The settings that the wrapped transport cannot apply.
    public var unsupportedSettings: [UnsupportedSetting] { wrapped.unsupportedSettings }

    /// Those of the wrapped transport.
    public var capabilities: Set<PluginCapability> { wrapped.capabilities }

    /// Whether the wrapped transport decodes bodies; replayed bodies are always decoded.
    public var decodesContent: Bool { wrapped.decodesContent }

    /// The identity that the wrapped transport has for the request.
    public func identity(for request: PipelineRequest) -> String? { wrapped.identity(for: request) }

    /// The entries that were loaded from the file, and which of them are unused.
    public var recording: HARRecording {
        playback?.recording
            ?? HARRecording(fileName: file.lastPathComponent, entries: [], unused: [], expired: [], unreadable: [])
    }

    /// Repeatable random numbers for the provider, and the clock of the recorded session if the mode only replays.
    ///
    /// ```swift
    /// let provider = Provider<GitHub>(transport: recorder, configuration: recorder.configuration)
    /// ```
    ///
    /// - If the mode replays and cannot record, this is ``ReplayTransport/configuration``.
    /// - If the mode records, the clock is the system's, and the generator is seeded. The first access chooses a seed
    ///   for a new file, which is stored as `log._pipeline.randomSeed`. An existing file keeps its seed, which is 0 if
    ///   it has none.
    /// - In ``RecordingMode/passthrough``, this is the default configuration.
    ///
    /// **Secrets**: all numbers of the generator can be computed from the file. Do not make keys or passwords from them
    /// while recording; a nonce or an idempotency key of the recorded session is not a secret.
    public var configuration: ProviderConfiguration {
        guard let recorder else { return playback?.configuration ?? ProviderConfiguration() }
        return ProviderConfiguration(random: recorder.random())
    }

    /// Replays an entry of the file, or sends the request and records the exchange, depending on ``mode``.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        guard let playback else {
            guard let recorder else { return try await wrapped.send(request, context: context) }
            return try await recorder.send(request, to: wrapped, context)
        }
        let (answer, request) = try await playback.answer(to: request, context, canRecord: recorder != nil)
        switch answer {
        case .entry(let index):
            return try await playback.answer(index, to: request, context)
        case .expired(let index):
            guard let recorder else { throw playback.expired(index) }
            try refuseRedacted(request)
            return try await recorder.send(request, to: wrapped, context, replacing: index)
        case .miss(let isUsedUp, let error):
            guard recordsMisses, let recorder else { throw await error() }
            try refuseRedacted(request)
            return try await recorder.send(request, to: wrapped, context, isMissing: !isUsedUp)
        }
    }

    /// Refuses to send a value that a replayed response contains in place of a secret, such as a token.
    private func refuseRedacted(_ request: PipelineRequest) throws {
        let mark = RecordingRedaction.placeholder
        let field = request.headers.first { $0.value.contains(mark) }?.name.rawName
        let others = [
            "URL": request.url?.absoluteString.contains(mark), "body": request.body.bytes?.contains(Data(mark.utf8)),
        ]
        guard let place = field ?? others.first(where: { $0.value == true })?.key else { return }
        throw PipelineError(
            .recording(.secret),
            """
            \(request.method) \(request.host ?? ""): the \(place) contains a value of a replayed response in which a secret \
            was redacted, so it is not sent; give the test a recording of its own, or record \(file.lastPathComponent) \
            anew with \(RecordingMode.environmentVariable)=recordAll
            """
        )
    }

    /// Writes the file and stops recording.
    ///
    /// Exchanges that have not ended are left out. If nothing was recorded, the file is not touched. A second call does
    /// nothing. The file is written even if the task is cancelled.
    ///
    /// - Throws: ``/Pipeline/PipelineError`` with code `recording.notWritten` or `recording.secret`.
    public func finish() async throws {
        try await finishRecording()
    }

    /// Writes the file and stops recording, like ``finish()``, and returns whether the file was written.
    @discardableResult
    package func finishRecording() async throws -> Bool {
        try await recorder?.finish() ?? false
    }

    /// Stops recording, and leaves the file as it was.
    package func discardRecording() async throws {
        try await recorder?.discard()
    }
}
