import Foundation
import HTTPTypes
package import PipelineCore
import Synchronization

/// A recorder that collects exchanges in the order in which their requests began, and writes them.
package final class Recorder: Sendable {
    private struct State {
        var nextTicket = 0
        var recorded = Recorded()
        var random: PipelineRandom?
        var isClosed = false
    }

    private let output: RecordingOutput
    private let byteLimit: Int
    private let report: @Sendable (PipelineError) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - output: writes the file.
    ///   - byteLimit: the size of the largest body, in bytes.
    ///   - report: called with the error of a recording that ends without ``finish()``.
    init(
        _ output: RecordingOutput,
        byteLimit: Int,
        report: @escaping @Sendable (PipelineError) -> Void = { Recorder.print($0) }
    ) {
        self.output = output
        self.byteLimit = byteLimit
        self.report = report
    }

    var journal: HARJournal { output.journal }

    /// Waits for the disk, because work left to another thread would be lost if the process ended.
    deinit {
        do {
            let recorded = close()
            _ = try journal.lane.runBlocking { [output] in try output.write(recorded) }
        } catch {
            report(error as? PipelineError ?? PipelineError(.recording(.notWritten), "the recording is not written"))
        }
    }

    /// Prints an error that cannot be thrown to a caller.
    package static func print(_ error: PipelineError) { print("error: \(error.code.rawValue): \(error.reason)") }

    static func print(_ line: String) {
        _ = try? Data("\(line)\n".utf8).withUnsafeBytes {
            try HARWriter.append($0, to: FileHandle.standardError.fileDescriptor, URL(filePath: "/dev/stderr"))
        }
    }

    /// Sends a request and records the exchange.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - transport: the transport that sends it.
    ///   - context: the context of the call.
    ///   - index: the old entry that the new one replaces, unless the exchange fails.
    ///   - isMissing: whether no old entry matches the request. The new entry is then dropped if its stored form equals
    ///     an old one.
    /// - Returns: the response of the transport.
    /// - Throws: the errors of the transport; `.recording(.notWritten)` if the recording is finished.
    func send(
        _ request: PipelineRequest,
        to transport: any Transport,
        _ context: PipelineContext,
        replacing index: Int? = nil,
        isMissing: Bool = false
    ) async throws -> PipelineResponse {
        let ticket = try begin(isMissing)
        context.report(.replayed(false))
        let (context, phases) = context.observingPhases()
        let live = LiveExchange(request, context, phases: phases, byteLimit: byteLimit) { [self] outcome in
            end(ticket, outcome, replacing: index)
        }
        do {
            return live.makeResponse(try await transport.send(live.makeRequest(), context: context))
        } catch {
            live.finish(throwing: error)
            throw error
        }
    }

    /// Returns the random numbers of the session, whose seed is written to the file.
    func random() -> PipelineRandom {
        state.withLock { state in
            if let random = state.random { return random }
            let seed = output.randomSeed ?? .random(in: 0...HARFile.maximumRandomSeed)
            let random = PipelineRandom.seeded(seed)
            state.random = random
            state.recorded.randomSeed = seed
            return random
        }
    }

    private func begin(_ isMissing: Bool) throws -> Int {
        try state.withLock { state in
            guard !state.isClosed else {
                throw PipelineError(
                    .recording(.notWritten),
                    "the recording \(output.file.lastPathComponent.quotedExcerpt) is finished and takes no more requests"
                )
            }
            state.nextTicket += 1
            if isMissing { state.recorded.missing.insert(state.nextTicket) }
            return state.nextTicket
        }
    }

    private func end(_ ticket: Int, _ outcome: LiveExchange.Outcome, replacing index: Int?) {
        switch outcome {
        case .abandoned: return
        case .tooLarge:
            state.withLock { state in
                state.recorded.problem =
                    state.recorded.problem
                    ?? PipelineError(
                        .recording(.notWritten),
                        "an exchange with a body of more than \(byteLimit) bytes is not recorded"
                    )
            }
        case .recorded(let exchange, let request):
            if index != nil, exchange.failure != nil { return }
            let own = output.redaction.secrets(of: request, response: exchange.response?.headers ?? [:])
            // The end searches for all secrets of the session.
            let secrets = state.withLock { $0.recorded.secrets.adding(own) }
            let entry = output.redaction.adding(secretValues: secrets)
                .entry(CodedBody.decoded(exchange, upTo: byteLimit), of: request)
            // Under the lock, so that nothing is added to the journal after it was discarded.
            state.withLock { state in
                guard !state.isClosed else { return }
                if let index {
                    state.recorded.replacements[index] = entry
                } else {
                    state.recorded.entries[ticket] = entry
                }
                // An entry that the journal does not accept is still in memory, and is written at the end.
                journal.add(entry)
            }
        }
    }

    // MARK: Writing

    /// Writes the exchanges that have ended, outside the cooperative pool.
    ///
    /// If there are none, the file stays unchanged.
    ///
    /// The file is written even if the task is cancelled; the wait continues.
    ///
    /// - Returns: whether the file was written.
    @discardableResult
    func finish() async throws -> Bool {
        let recorded = close()
        return try await journal.lane.complete { [output] in try output.write(recorded) }
    }

    /// Drops everything that was recorded.
    func discard() async throws {
        _ = close()
        try await journal.lane.complete { [output] in try output.journal.discard() }
    }

    /// Stops accepting requests and entries for the journal.
    private func close() -> Recorded {
        state.withLock { state in
            state.isClosed = true
            return state.recorded
        }
    }
}
