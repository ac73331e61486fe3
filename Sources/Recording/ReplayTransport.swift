public import Foundation
public import PipelineCore

/// A transport that replays the exchanges of a HAR file of any origin and never opens a connection.
///
/// ```swift
/// let replay = try ReplayTransport(file, matching: [.method, .url, .body(.json)], atEnd: .repeatLast)
/// let provider = Provider<GitHub>(transport: replay)
/// …
/// try replay.recording.assertAllUsed()
/// ```
///
/// **Effects**
///
/// - Each entry is replayed once. Entries that match the same request are replayed in the order of the file; after the
///   last of them, `atEnd` applies. A request uses its entry when it begins. Where an entry is redacted, the request
///   may have any value.
/// - The response has the entry's status, reason phrase, header fields in order, and body. A body is decoded from its
///   content coding, and its Content-Encoding and Content-Length are removed. Transfer-Encoding is always removed, and
///   a wrong Content-Length is corrected. A response to HEAD and one with status 204 or 304 keep these fields.
/// - If the file has the size of a body but not the body, as some exports of browsers do, the request fails with
///   `recording.corrupt`.
/// - A recorded failure is thrown with its code. A failure within the body is thrown after the bytes that had arrived.
/// - A body that was recorded in its content coding and is damaged fails with `contentCoding`, as it does live.
/// - A stream yields the recorded chunks. No time passes unless `pace` is set. With ``ReplayPace/immediate``, responses
///   are marked as `context.isReplayed`, and `RetryPlugin` does not wait for its backoff or for a recorded Retry-After.
/// - The body of a request is read only if `matching` compares it.
///
/// **Defaults**: those of ``RecordingTransport``.
///
/// **Errors**: those of ``RecordingTransport``, except `recording.busy` and `recording.notWritten`.
///
/// **Secrets**: the file is not changed. Requests and entries are redacted before they are compared, and before they
/// are quoted in an error.
public final class ReplayTransport: Transport {
    private let playback: Playback

    /// Creates a transport and reads the file, which blocks the calling thread.
    ///
    /// - Parameters:
    ///   - file: the HAR file.
    ///   - matching: the parts of a request that must equal those of an entry.
    ///   - end: what happens when every matching entry has been used.
    ///   - pace: how long replayed exchanges take.
    ///   - redactor: defines the secret names and values.
    ///   - expiry: the age up to which an entry may be replayed.
    ///   - bodyByteCount: the size of the largest body that is compared, in bytes; 0 or more.
    ///   - skipsUnreadable: whether an entry that cannot be read is skipped and listed in ``HARRecording/unreadable``;
    ///     otherwise it is an error.
    /// - Throws: ``/Pipeline/PipelineError`` with code `recording.missingFile` or `recording.corrupt`.
    public init(
        _ file: URL,
        matching: RequestMatching = .standard,
        atEnd end: ReplayEnd = .fail,
        pace: ReplayPace = .immediate,
        redactor: Redactor = .standard,
        expiry: RecordingExpiry = .never,
        bodyByteCount: Int = 64 << 20,
        skipsUnreadable: Bool = false
    ) throws {
        precondition(bodyByteCount >= 0, "bodyByteCount is \(bodyByteCount), not 0 or more")
        let rules = Playback.Rules(
            matching: matching,
            end: end,
            pace: pace,
            redaction: RecordingRedaction(redactor),
            expiry: expiry,
            bodyByteCount: bodyByteCount,
            skipsUnreadable: skipsUnreadable
        )
        playback = try Playback(HARFile(contentsOf: file), at: file, rules)
    }

    /// `true`: replayed bodies are decoded.
    public var decodesContent: Bool { true }

    /// The entries that were loaded from the file, and which of them are unused.
    public var recording: HARRecording { playback.recording }

    /// The clock and the random numbers of the recorded session, for the provider.
    ///
    /// ```swift
    /// let provider = Provider<GitHub>(transport: replay, configuration: replay.configuration)
    /// ```
    ///
    /// With it, dates of signatures, cache ages, expiry of cookies, nonces, idempotency keys and boundaries are those
    /// of the recording. Each access returns the same clock and generator.
    ///
    /// - The date begins at the first `startedDateTime`. Each exchange moves it from its start to its end, to the
    ///   millisecond. In between it does not move: call ``advance(by:)`` where the recorded program waited.
    /// - Sleeping on the clock takes real time. A recorded pause changes only the date, so that it ends no call with a
    ///   timeout.
    /// - The generator has the seed that ``RecordingTransport/configuration`` has stored, or 0 if the file has none.
    ///   Its numbers are predictable; use them only in tests. They are equal to the recorded ones if the program uses
    ///   them in the recorded order, which concurrent calls do not ensure.
    public var configuration: ProviderConfiguration { playback.configuration }

    /// Advances the clock of ``configuration``, as a wait between two calls did in the recorded session.
    ///
    /// - Parameter duration: zero or more.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "duration is \(duration), not zero or more")
        playback.clock.advance(by: duration)
    }

    /// Replays the entry that matches the request.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        let (answer, request) = try await playback.answer(to: request, context, canRecord: false)
        switch answer {
        case .entry(let index): return try await playback.answer(index, to: request, context)
        case .expired(let index): throw playback.expired(index)
        case .miss(_, let error): throw await error()
        }
    }
}
