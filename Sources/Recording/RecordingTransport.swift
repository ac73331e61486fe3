public import Foundation
public import Pipeline

/// Records what a transport answers into a HAR file, and answers from the file what has been recorded.
///
/// ```swift
/// let transport = try RecordingTransport(file, wrapping: URLSessionTransport())
/// let provider = Provider<GitHub>(transport: transport)
/// …
/// try await transport.finish()
/// ```
///
/// **Effects**
///
/// - ``RecordingMode/none`` answers from the file only. ``RecordingMode/once`` does so when the file is there, and records all when it
///   is not. ``RecordingMode/newEpisodes`` answers from the file and records what it does not answer. ``RecordingMode/all`` records
///   all and replaces the file at the end. ``RecordingMode/passthrough`` sends all on and touches no file.
/// - What is recorded stands in the order in which the requests began, whatever the order in which they ended.
/// - Bodies are handed on as they come. An exchange is recorded when its body has been read to its end or has failed; one whose reader
///   stops before is recorded as far as it was read, and replays so far and then fails with `truncated`. An exchange that the caller
///   cancels is not recorded. A failure is recorded by its code.
/// - The file is written by ``finish()``, or when the transport is released, which then waits for the disk and prints errors to standard
///   error. It is written beside the old one, which it then replaces. Until then a journal beside it keeps what was recorded, and another
///   recorder of the same file is refused. What a process has left that was killed is taken over by ``RecordingMode/newEpisodes``, and
///   discarded by modes that record all.
/// - No call waits for the journal: an entry is in it a moment after its exchange has ended. While 1,000 entries wait for a disk that has
///   stalled, further ones are kept in memory alone.
/// - A body of more than 1 MiB stands in a file of its own, in a folder beside the HAR file.
/// - A request is compared as ``RequestMatching`` says, and takes the first entry that answers it and that no other has taken. Where
///   something is redacted in an entry, the request may have any value. ``RecordingMode/newEpisodes`` does not add an entry for a
///   request that the file holds in the same form.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `mode` | what `PIPELINE_RECORD` names, else ``RecordingMode/once`` | | |
/// | `matching` | ``RequestMatching/standard`` | | |
/// | `atEnd` | ``SequenceEnd/fail`` | | |
/// | `pace` | ``ReplayPace/immediate`` | | |
/// | `redactor` | `Redactor.standard` | | |
/// | `expiry` | ``RecordingExpiry/never`` | | |
/// | `bodyByteCount` | 67,108,864 (64 MiB) | bytes of a body | 0 and up |
///
/// **Errors**: `recording.noMatch` for a request that no entry matches, with the three nearest entries part by part; `recording.usedUp`
/// when each entry that matches has been used; `recording.missingFile` and `recording.corrupt` when it is made and a file cannot be
/// read; `recording.busy` when another recorder writes the file; `recording.expired`; `limit.bodyBytes` for a body that is to be
/// compared and is larger than `bodyByteCount`. With none of them anything is sent. What the wrapped transport throws passes through.
/// A body that is too large to be recorded is handed on, and ``finish()`` fails with `recording.notWritten`.
///
/// **Secrets**: what is stored, and each request before it is compared, goes through one transform with the names and values of the
/// redactor, whose lists of what people may see are ignored: a recording is for replay. By name and whatever their length, credentials,
/// cookies, fields with secret names, user names and passwords of URLs, and values of secret names in queries, forms, JSON and
/// multipart bodies become `REDACTED`, numbers 0. By value, everything is replaced that is declared, and what the secret fields and
/// query items of the requests and the cookies of their responses hold if it has 16 bytes or more and is no host, path, URL, date or
/// plain word; scheme and host of a URL and the slashes of its path stay. ``finish()`` fails with `recording.secret` if such a value, or
/// one of 8 to 15 bytes, is still found in the written file. File and journal can be read by their owner only; the journal may hold
/// what only a later request shows to be secret.
///
/// Source: HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/
public final class RecordingTransport: Transport {
    /// The file.
    public let file: URL
    /// The mode.
    public let mode: RecordingMode

    private let wrapped: any Transport
    private let playback: Playback?
    let recorder: Recorder?
    private let recordsMisses: Bool

    /// Reads the file when the mode asks for it; the calling thread waits for it.
    ///
    /// - Parameters:
    ///   - file: the HAR file.
    ///   - transport: what answers while recording.
    ///   - mode: when to record; `nil` for what `PIPELINE_RECORD` names, else `.once`.
    ///   - matching: what makes a request the same as a recorded one.
    ///   - end: what answers when each entry that matches has been used.
    ///   - pace: how long answers from the file take.
    ///   - redactor: names and values that are secret.
    ///   - expiry: how old an entry may be.
    ///   - bodyByteCount: the largest body that is recorded or compared.
    /// - Throws: ``Pipeline/PipelineError`` with a code of the kind `recording`.
    public init(
        _ file: URL,
        wrapping transport: any Transport,
        mode: RecordingMode? = nil,
        matching: RequestMatching = .standard,
        atEnd end: SequenceEnd = .fail,
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
        let mode = try mode ?? RecordingMode.environment() ?? .once
        self.file = file
        self.mode = mode
        wrapped = transport
        recordsMisses = mode == .newEpisodes
        (playback, recorder) = try Self.open(file, mode, rules)
    }

    /// Takes the lock of the file before it is read, so that nobody writes it in between.
    private static func open(
        _ file: URL,
        _ mode: RecordingMode,
        _ rules: Playback.Rules
    ) throws -> (Playback?, Recorder?) {
        func playback(_ har: HARFile) throws -> Playback { try Playback(har, at: file, rules) }
        func recorder(_ base: HARFile, _ journal: HARJournal) -> Recorder {
            Recorder(base, journal, for: file, rules.redaction, byteLimit: rules.bodyByteCount)
        }
        func both(_ loaded: HARFile, _ journal: HARJournal) throws -> (Playback?, Recorder?) {
            let (har, isChanged) = try adding(journal, to: loaded, rules.redaction)
            let playback = try playback(har)
            let recorder = Recorder(
                har,
                journal,
                for: file,
                rules.redaction,
                byteLimit: rules.bodyByteCount,
                isChanged: isChanged,
                isKnown: { playback.holds($0) }
            )
            return (playback, recorder)
        }
        switch mode {
        case .passthrough:
            return (nil, nil)
        case .all:
            return (nil, recorder(HARFile(), try emptied(HARJournal(for: file), file)))
        case .newEpisodes:
            let journal = try HARJournal(for: file)
            return try both(load(file) ?? HARFile(), journal)
        case .once:
            if !rules.expiry.recordsAgain, let har = try load(file) { return (try playback(har), nil) }
            let journal = try HARJournal(for: file)
            guard let loaded = try load(file) else { return (nil, recorder(HARFile(), try emptied(journal, file))) }
            return try both(loaded, journal)
        default:
            return (try playback(try HARFile(contentsOf: file)), nil)
        }
    }

    /// Adds the entries that a killed recorder has left to those of the file, without those that it had written already.
    private static func adding(
        _ journal: HARJournal,
        to har: HARFile,
        _ redaction: RecordingRedaction
    ) throws -> (HARFile, isChanged: Bool) {
        var har = har
        let left = try journal.entries()
        // What is written may hide more than the journal, and have bodies in side files.
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

    /// What no redaction changes.
    private static func identity(of entry: HAREntry) -> [String] {
        let parts = [entry.json["startedDateTime"], entry.json["time"], entry.json["response"]?["status"]]
        return parts.map { $0.map { String(decoding: $0.data(), as: UTF8.self) } ?? "" }
    }

    private static func isSame(_ first: RecordedExchange.Request, _ second: RecordedExchange.Request) -> Bool {
        let (first, second) = (MatchedRequest(first), MatchedRequest(second))
        return RequestMatching.standard.parts.flatMap(\.kinds).allSatisfy { first.resembles(second, in: $0) }
    }

    /// A journal without them, where all is recorded anew.
    private static func emptied(_ journal: HARJournal, _ file: URL) throws -> HARJournal {
        guard try !journal.entries().isEmpty else { return journal }
        try journal.discard()
        return try HARJournal(for: file)
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

    /// Whether the wrapped transport decodes; what is answered from the file is not in a coding.
    public var decodesContent: Bool { wrapped.decodesContent }

    /// What was loaded from the file, and what of it is unused.
    public var recording: Recording {
        playback?.recording
            ?? Recording(fileName: file.lastPathComponent, entries: [], unused: [], expired: [], unreadable: [])
    }

    /// Answers from the file or sends the request on, as the mode says.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        guard let playback else {
            guard let recorder else { return try await wrapped.send(request, context: context) }
            return try await recorder.send(request, to: wrapped, context)
        }
        let replay = Replay(playback: playback, mode: mode)
        let (answer, request) = try await replay.answer(to: request, context, canRecord: recorder != nil)
        switch answer {
        case .entry(let index):
            return try await playback.answer(index, to: request, context)
        case .expired(let index):
            guard let recorder else { throw replay.expired(index) }
            return try await recorder.send(request, to: wrapped, context, replacing: index)
        case .miss(let isUsedUp, let error):
            guard recordsMisses, let recorder else { throw await error() }
            return try await recorder.send(request, to: wrapped, context, isMissing: !isUsedUp)
        }
    }

    /// Writes what has been recorded; nothing is recorded after it.
    ///
    /// Exchanges that have not ended by then are left out. Without anything recorded the file stays as it is, as it does in modes that
    /// do not record. A second call does nothing. A cancelled task writes the file, too.
    ///
    /// - Throws: ``Pipeline/PipelineError`` with code `recording.notWritten` or `recording.secret`.
    public func finish() async throws {
        try await finishRecording()
    }

    /// As ``finish()``, and tells whether the file was written.
    @discardableResult
    package func finishRecording() async throws -> Bool {
        try await recorder?.finish() ?? false
    }
}
