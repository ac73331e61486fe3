public import Foundation
public import Pipeline

/// Answers from a HAR file, of any writer, and has nothing to open the network with.
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
/// - Each entry answers once, those that are alike in the order of the file; then `atEnd` holds. An entry is taken when the request
///   begins. Where something is redacted in an entry, the request may have any value.
/// - Status, reason, repeated header fields and their order, and the bytes of the body are those of the entry. A body is decoded from its
///   content coding, and Content-Encoding and Content-Length of such a body are left out; Transfer-Encoding is always, and Content-Length
///   is put right. An answer without a body, to HEAD or with 204 or 304, keeps them.
/// - A recorded failure is thrown with its code; one within the body follows the bytes that had arrived.
/// - A caller that reads a stream gets the recorded pieces. No time passes unless `pace` says so: with ``ReplayPace/immediate``
///   responses are marked as `context.isReplayed`, and `RetryPlugin` does not wait for its backoff or for a recorded Retry-After.
/// - The body of a request is read only when `matching` looks at it.
///
/// **Defaults**: as ``RecordingTransport``.
///
/// **Errors**: as ``RecordingTransport``, but for `recording.busy`.
///
/// **Secrets**: the file is not changed. Requests and entries go through the redaction before they are compared, and before they stand
/// in an error.
public final class ReplayTransport: Transport {
    /// The file.
    public let file: URL

    private let playback: Playback

    /// Reads the file; the calling thread waits for it.
    ///
    /// - Parameters:
    ///   - file: the HAR file.
    ///   - matching: what makes a request the same as a recorded one.
    ///   - end: what answers when each entry that matches has been used.
    ///   - pace: how long answers take.
    ///   - redactor: names and values that are secret.
    ///   - expiry: how old an entry may be.
    ///   - bodyByteCount: the largest body that is compared.
    ///   - skipsUnreadable: whether an entry that cannot be read is left out, and listed in ``Recording/unreadable``; else it is an error.
    /// - Throws: ``Pipeline/PipelineError`` with code `recording.missingFile` or `recording.corrupt`.
    public init(
        _ file: URL,
        matching: RequestMatching = .standard,
        atEnd end: SequenceEnd = .fail,
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
        self.file = file
        playback = try Playback(HARFile(contentsOf: file), at: file, rules)
    }

    /// Bodies are handed over decoded.
    public var decodesContent: Bool { true }

    /// What was loaded from the file, and what of it is unused.
    public var recording: Recording { playback.recording }

    /// Answers from the file.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        let replay = Replay(playback: playback, mode: .none)
        let (answer, request) = try await replay.answer(to: request, context, canRecord: false)
        switch answer {
        case .entry(let index): return try await playback.answer(index, to: request, context)
        case .expired(let index): throw replay.expired(index)
        case .miss(_, let error): throw await error()
        }
    }
}
