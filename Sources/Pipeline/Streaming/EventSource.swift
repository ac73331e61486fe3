/// Events of one stream after another.
struct EventSource: BatchSource {
    /// Opens a stream that goes on from an ID; `nil` when the server has no more.
    typealias Connect = @Sendable (_ lastEventID: String) async throws -> PipelineBody?

    private let connect: Connect
    private let policy: ReconnectionPolicy
    private let maximumByteCount: Int
    private let clock: PipelineClock
    private var random: PipelineRandom
    private var stream: StreamBatches<ServerSentEventParser>?
    private var lastEventID: String
    private var reconnectionTime: Duration?
    private var failedAttempts = 0

    init(
        lastEventID: String,
        policy: ReconnectionPolicy,
        maximumByteCount: Int,
        settings: CallSettings,
        connect: @escaping Connect
    ) {
        self.connect = connect
        self.policy = policy
        self.maximumByteCount = maximumByteCount
        self.lastEventID = lastEventID
        clock = settings.clock
        random = settings.random
    }

    mutating func read() async throws -> [ServerSentEvent]? {
        while true {
            do {
                guard try await open() else { return nil }
                if let events = try await stream?.read() { return events }
                guard policy.isEnabled else { return nil }
            } catch {
                try giveUp(after: error)
            }
            let isEmpty = close()
            let delay = policy.delay(
                afterFailedAttempts: failedAttempts,
                isEmpty: isEmpty,
                asked: reconnectionTime,
                using: &random
            )
            try await clock.sleep(for: delay)
        }
    }

    /// Whether there is a stream to read.
    private mutating func open() async throws -> Bool {
        if stream != nil { return true }
        guard let body = try await connect(lastEventID) else { return false }
        failedAttempts = 0
        // The standard's buffer begins empty with each stream, which would lose the place at the first event without an ID; browsers
        // keep it, too.
        let parser = ServerSentEventParser(maximumByteCount: maximumByteCount, lastEventID: lastEventID)
        stream = StreamBatches(body, parser)
        return true
    }

    /// Keeps what the stream has said; `true` when nothing came of it.
    private mutating func close() -> Bool {
        guard let ended = stream.take() else { return true }
        lastEventID = ended.decoder.lastEventID
        reconnectionTime = ended.decoder.reconnectionTime ?? reconnectionTime
        return ended.byteCount == 0
    }

    /// Throws the error when no further attempt is to follow it.
    private mutating func giveUp(after error: any Error) throws {
        let failure = PipelineError(
            thrown: error,
            otherwise: .transport,
            "the stream of events ended in \(PipelineError.name(of: error))"
        )
        if stream == nil { failedAttempts += 1 }
        let hasAttempts = policy.maximumFailedAttempts.map { failedAttempts < $0 } ?? true
        guard policy.isEnabled, hasAttempts, failure.code != .cancelled, policy.shouldReconnect(failure) else {
            throw failure.asThrown
        }
    }
}
