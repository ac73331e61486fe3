import Foundation
import PipelineCore

/// The search of a recording for the entry of a request.
struct Replay {
    enum Answer {
        case entry(Int)
        /// An entry that is too old and must be replaced.
        case expired(Int)
        /// No entry matches, or all that match have been used.
        case miss(isUsedUp: Bool, () async -> PipelineError)
    }

    let playback: Playback
    /// `nil` for a transport that only replays.
    let mode: RecordingMode?

    /// Takes the entry for a request.
    ///
    /// - Returns: the result, and the request. If the body was read and cannot be replayed, the request has it in
    ///   memory.
    /// - Throws: `.recording(.expired)`, `limit.bodyBytes`, `CancellationError`.
    func answer(
        to request: PipelineRequest,
        _ context: PipelineContext,
        canRecord: Bool
    ) async throws -> (Answer, PipelineRequest) {
        try Task.checkCancellation()
        var request = request
        var body = request.body.isAbsent ? nil : request.body.bytes
        if playback.rules.readsBody, body == nil, !request.body.isAbsent {
            let read = try await request.body.collect(upTo: playback.rules.bodyByteCount)
            if !request.body.isReplayable { request.body = .bytes(read) }
            body = read
        }
        let live = LiveRequest(request, body: body, playback.rules)
        let taken = try await playback.take(live)
        guard let index = taken.entry else {
            let mismatch = Mismatch(playback: playback, mode: mode, live: live)
            return (.miss(isUsedUp: !taken.used.isEmpty) { await mismatch.error(used: taken.used) }, request)
        }
        return (try checkAge(of: index, context, canRecord: canRecord), request)
    }

    private func checkAge(of index: Int, _ context: PipelineContext, canRecord: Bool) throws -> Answer {
        let entry = playback.entries[index]
        // The clock of the recorded session shows the date of the entry.
        let isOwn = context.clock.isSame(as: playback.configuration.clock)
        let date = isOwn ? Date() : context.clock.date
        switch playback.rules.expiry.action(for: entry, at: date) {
        case .none: return .entry(index)
        case .warn(let report):
            playback.noteExpired(index)
            report(entry)
            return .entry(index)
        case .rerecord where canRecord: return .expired(index)
        case .fail, .rerecord: throw expired(index)
        }
    }

    func expired(_ index: Int) -> PipelineError {
        let entry = playback.entries[index]
        let name = playback.url.lastPathComponent.quotedExcerpt
        let mode = mode.map { " (mode \($0))" } ?? ""
        return PipelineError(
            .recording(.expired),
            "\(entry) of \(name) is too old\(mode); record it again, or change `expiry`"
        )
    }
}
