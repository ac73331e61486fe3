import Foundation
import HTTPTypes
import Pipeline
import Synchronization

/// Collects exchanges in the order in which their requests began, and writes them.
final class Recorder: Sendable {
    private struct State {
        var nextTicket = 0
        var entries: [Int: HAREntry] = [:]
        /// New entries for old ones, by index.
        var replacements: [Int: HAREntry] = [:]
        /// What secret fields of requests have held, and cookies of answers.
        var secrets: Set<String> = []
        var problem: PipelineError?
        var isClosed = false
    }

    private let file: URL
    private let base: HARFile
    private let isChanged: Bool
    private let journal: HARJournal
    private let redaction: RecordingRedaction
    private let byteLimit: Int
    private let state = Mutex(State())
    private let isWritten = Mutex(false)

    /// - Parameters:
    ///   - base: what the new entries are added to.
    ///   - journal: where they are kept until the file is written.
    ///   - file: where they are written to.
    ///   - redaction: what is hidden in them.
    ///   - byteLimit: the largest body.
    ///   - isChanged: whether the base has more than the file, and is written in any case.
    init(
        _ base: HARFile,
        _ journal: HARJournal,
        for file: URL,
        _ redaction: RecordingRedaction,
        byteLimit: Int,
        isChanged: Bool = false
    ) {
        self.base = base
        self.journal = journal
        self.file = file
        self.redaction = redaction
        self.byteLimit = byteLimit
        self.isChanged = isChanged
    }

    deinit { _ = try? finish() }

    /// Sends a request and records what comes of it.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - transport: where to.
    ///   - context: of the call.
    ///   - index: the old entry whose place the new one takes, if it does not fail.
    /// - Returns: what the transport answers.
    /// - Throws: what the transport throws; `.recording(.notWritten)` when it is finished.
    func send(
        _ request: PipelineRequest,
        to transport: any Transport,
        _ context: PipelineContext,
        replacing index: Int? = nil
    ) async throws -> PipelineResponse {
        let ticket = try begin()
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

    private func begin() throws -> Int {
        try state.withLock { state in
            guard !state.isClosed else {
                throw PipelineError(
                    .recording(.notWritten),
                    "the recording \(file.lastPathComponent.quotedExcerpt) is finished and takes no more requests"
                )
            }
            state.nextTicket += 1
            return state.nextTicket
        }
    }

    private func end(_ ticket: Int, _ outcome: LiveExchange.Outcome, replacing index: Int?) {
        switch outcome {
        case .abandoned: return
        case .tooLarge:
            state.withLock { state in
                state.problem =
                    state.problem
                    ?? PipelineError(
                        .recording(.notWritten),
                        "an exchange with a body of more than \(byteLimit) bytes is not recorded"
                    )
            }
        case .recorded(let exchange, let request):
            if index != nil, exchange.failure != nil { return }
            let own = redaction.values(of: request, answer: exchange.response?.headers ?? [:])
            let secrets = state.withLock { state in
                state.secrets.formUnion(own)
                // With more, looking for all of them each time would take longer than the exchange; the end looks for all.
                return state.secrets.count <= Self.maximumSecretCount ? state.secrets : own
            }
            let entry = entry(exchange, request, secrets)
            // Under the lock, so that nothing comes into the journal after it was discarded.
            state.withLock { state in
                guard !state.isClosed else { return }
                if let index { state.replacements[index] = entry } else { state.entries[ticket] = entry }
                // What the journal does not take is still in memory, and written at the end.
                try? journal.append(entry)
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

    /// Writes what has ended by now; when nothing has, the file stays as it is.
    ///
    /// - Returns: whether it was written.
    @discardableResult
    func finish() throws -> Bool {
        try isWritten.withLock { isWritten in
            guard !isWritten else { return false }
            let closed = state.withLock { state in
                state.isClosed = true
                return state
            }
            let hasNews = isChanged || !closed.entries.isEmpty || !closed.replacements.isEmpty
            if hasNews { try write(closed) }
            isWritten = true
            try journal.discard()
            if hasNews { try search(closed) }
            if let problem = closed.problem { throw problem }
            return hasNews
        }
    }

    private func write(_ closed: State) throws {
        let redaction = redaction.adding(secretValues: closed.secrets)
        var har = base
        let sideFiles = HARSideFiles(for: file)
        for (index, entry) in closed.replacements.sorted(by: { $0.key < $1.key }) {
            har.replace(at: index, with: try sideFiles.moveBodies(of: try checked(entry, redaction)))
        }
        for (_, entry) in closed.entries.sorted(by: { $0.key < $1.key }) {
            har.append(try sideFiles.moveBodies(of: try checked(entry, redaction)))
        }
        try har.write(to: file)
    }

    /// Looks once more at what was written.
    private func search(_ closed: State) throws {
        let redaction = redaction.adding(secretValues: closed.secrets)
        guard let written = try? Data(contentsOf: file, options: .mappedIfSafe) else {
            throw PipelineError(
                .recording(.notWritten),
                "the file \(file.lastPathComponent.quotedExcerpt) cannot be read after it was written"
            )
        }
        guard !redaction.containsSecret(in: written) else { throw Self.secretFound(file) }
    }

    /// The entry without what later requests have shown to be secret.
    private func checked(_ entry: HAREntry, _ redaction: RecordingRedaction) throws -> HAREntry {
        guard redaction.containsSecret(in: entry.json.data()) else { return entry }
        let entry = redaction.entry(entry)
        guard !redaction.containsSecret(in: entry.json.data()) else { throw Self.secretFound(file) }
        return entry
    }

    private static func secretFound(_ file: URL) -> PipelineError {
        PipelineError(
            .recording(.secret),
            "a secret value stands in what is recorded for \(file.lastPathComponent.quotedExcerpt)"
        )
    }
}
