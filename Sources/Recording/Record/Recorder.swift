import Foundation
import HTTPTypes
import Pipeline
import Synchronization

/// Collects exchanges in the order in which their requests began, and writes them.
final class Recorder: Sendable {
    private struct State {
        var nextTicket = 0
        var recorded = Recorded()
        var isClosed = false
    }

    private let file: URL
    private let output: RecordingOutput
    private let report: @Sendable (PipelineError) -> Void
    let journal: HARJournal
    private let redaction: RecordingRedaction
    private let byteLimit: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - base: what the new entries are added to.
    ///   - journal: where they are kept until the file is written.
    ///   - file: where they are written to.
    ///   - redaction: what is hidden in them.
    ///   - byteLimit: the largest body.
    ///   - isChanged: whether the base has more than the file, and is written in any case.
    ///   - isKnown: whether the base holds a request, in the form in which it is stored.
    ///   - report: is called with the error of a recording that ends without ``finish()``.
    init(
        _ base: HARFile,
        _ journal: HARJournal,
        for file: URL,
        _ redaction: RecordingRedaction,
        byteLimit: Int,
        isChanged: Bool = false,
        isKnown: @escaping @Sendable (RecordedExchange.Request) -> Bool = { _ in false },
        report: @escaping @Sendable (PipelineError) -> Void = { Recorder.print($0) }
    ) {
        output = RecordingOutput(base, journal, for: file, redaction, isChanged: isChanged, isKnown: isKnown)
        self.journal = journal
        self.file = file
        self.redaction = redaction
        self.byteLimit = byteLimit
        self.report = report
    }

    /// Waits for the disk: what is left to another thread would be lost if the process ended then.
    deinit {
        do {
            let recorded = close()
            _ = try journal.lane.runBlocking { [output] in try output.write(recorded) }
        } catch {
            report(error as? PipelineError ?? PipelineError(.recording(.notWritten), "the recording is not written"))
        }
    }

    /// Prints an error that no caller is left for.
    private static func print(_ error: PipelineError) {
        let line = "error: \(error.code.rawValue): \(error.reason)\n"
        _ = try? Data(line.utf8).withUnsafeBytes {
            try HARWriter.append($0, to: FileHandle.standardError.fileDescriptor, URL(filePath: "/dev/stderr"))
        }
    }

    /// Sends a request and records what comes of it.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - transport: where to.
    ///   - context: of the call.
    ///   - index: the old entry whose place the new one takes, if it does not fail.
    ///   - isMissing: whether no old entry matches the request, so that one that is the same when it is stored is not added.
    /// - Returns: the response of the transport.
    /// - Throws: what the transport throws; `.recording(.notWritten)` when it is finished.
    func send(
        _ request: PipelineRequest,
        to transport: any Transport,
        _ context: PipelineContext,
        replacing index: Int? = nil,
        isMissing: Bool = false
    ) async throws -> PipelineResponse {
        let ticket = try begin(isMissing)
        context.isReplayed = false
        let live = LiveExchange(request, context.clock, byteLimit: byteLimit) { [self] outcome in
            end(ticket, outcome, replacing: index)
        }
        do {
            return live.makeResponse(try await transport.send(live.makeRequest(), context: context))
        } catch {
            live.finish(throwing: error)
            throw error
        }
    }

    private static let maximumSecretCount = 256

    private func begin(_ isMissing: Bool) throws -> Int {
        try state.withLock { state in
            guard !state.isClosed else {
                throw PipelineError(
                    .recording(.notWritten),
                    "the recording \(file.lastPathComponent.quotedExcerpt) is finished and takes no more requests"
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
            let own = redaction.secrets(of: request, response: exchange.response?.headers ?? [:])
            let secrets = state.withLock { state in
                state.recorded.secrets.formUnion(own)
                // With more, looking for all of them each time would take longer than the exchange; the end looks for all.
                let secrets = state.recorded.secrets
                return secrets.count <= Self.maximumSecretCount ? secrets.replaced : own.replaced
            }
            let entry = entry(exchange, request, secrets)
            // Under the lock, so that nothing comes into the journal after it was discarded.
            state.withLock { state in
                guard !state.isClosed else { return }
                if let index {
                    state.recorded.replacements[index] = entry
                } else {
                    state.recorded.entries[ticket] = entry
                }
                // What the journal does not take is still in memory, and written at the end.
                journal.add(entry)
            }
        }
    }

    private func entry(_ exchange: RecordedExchange, _ request: PipelineRequest, _ secrets: Set<String>) -> HAREntry {
        var exchange = exchange
        exchange.request = CodedBody.decoded(exchange.request, upTo: byteLimit)
        if var response = exchange.response, !response.body.isEmpty, CodedBody.isNamed(in: response.headers) {
            response.wireByteCount = response.body.count
            response.isCoded = true
            if CodedBody.isWhole(status: response.status, method: exchange.request.method),
                let decoded = CodedBody.decoded(
                    response.body,
                    response.headers,
                    pieces: response.chunks.map(\.byteCount),
                    isCut: exchange.failure != nil,
                    upTo: byteLimit
                )
            {
                response.isCoded = false
                response.body = decoded.body
                response.chunks = zip(response.chunks, decoded.pieces).map { .init(byteCount: $1, delay: $0.delay) }
            }
            exchange.response = response
        }
        let redaction = redaction.adding(secretValues: secrets)
        return HAREntry(redaction.exchange(exchange, secretFields: request.secretFields))
    }

    // MARK: Writing

    /// Writes what has ended by now, outside the cooperative pool; when nothing has, the file stays as it is.
    ///
    /// It is written also if the task is cancelled, which does not end the wait.
    ///
    /// - Returns: whether it was written.
    @discardableResult
    func finish() async throws -> Bool {
        let recorded = close()
        return try await journal.lane.complete { [output] in try output.write(recorded) }
    }

    /// Takes no more requests, and nothing more comes into the journal.
    private func close() -> Recorded {
        state.withLock { state in
            state.isClosed = true
            return state.recorded
        }
    }
}
