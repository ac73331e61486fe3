/// The notices of a series of streams.
struct EventSource: BatchSource {
    typealias Notice = ServerSentEvent.Subscription.Notice

    /// Opens a stream that continues after an ID.
    typealias Connect = @Sendable (_ lastEventID: String) async -> Attempt

    /// The outcome of an attempt to connect.
    struct Attempt: Sendable {
        /// The response to read events from; `nil` if the server has no more events.
        let result: Result<PipelineResponse?, PipelineError>
        /// Whether the outcome is replayed from a recording; no wait follows it.
        let isReplayed: Bool
    }

    /// The settings that all readings of a subscription share.
    struct Settings: Sendable {
        let policy: ServerSentEvent.ReconnectionPolicy
        let maximumByteCount: Int
        let clock: PipelineClock
        let random: PipelineRandom
        let connect: Connect
    }

    private enum Phase {
        case connecting
        case open(EventConnection, since: PipelineClock.Instant)
        case waiting(Duration)
    }

    private let settings: Settings
    private let progress: SubscriptionProgress
    private let reportsComments: Bool
    private var phase = Phase.connecting
    private var random: PipelineRandom
    private var lastEventID: String
    private var restartCount: Int
    private var reconnectionTime: Duration?
    private var isReplayed = false
    private var failedAttempts = 0
    private var fruitlessAttempts = 0

    init(_ settings: Settings, _ progress: SubscriptionProgress, reportsComments: Bool) {
        self.settings = settings
        self.progress = progress
        self.reportsComments = reportsComments
        random = settings.random
        lastEventID = progress.lastEventID
        restartCount = progress.restarts.count
    }

    mutating func read() async throws -> [Notice]? {
        do {
            return try await step()
        } catch is RestartSignal.Restarted {
            restartCount = progress.restarts.count
            var notices: [Notice] = []
            if case .open(let connection, _) = phase { notices = await connection.takeArrived() }
            _ = await close()
            phase = .connecting
            return notices + [Notice(reconnection: .init(delay: .zero, error: nil))]
        } catch {
            return [try await fail(with: error)]
        }
    }

    private mutating func step() async throws -> [Notice]? {
        if case .waiting(let delay) = phase {
            try await run { [clock = settings.clock] in try await clock.sleep(for: delay) }
            phase = .connecting
        }
        guard case .open(let connection, _) = phase else {
            let attempt = try await run { [connect = settings.connect, lastEventID] in
                let attempt = await connect(lastEventID)
                // Otherwise the result would be the cancellation with which a restart interrupts the attempt.
                if case .failure = attempt.result { try Task.checkCancellation() }
                return attempt
            }
            isReplayed = attempt.isReplayed
            return try attempt.result.get().map { [open($0)] }
        }
        if let notices = try await run({ try await connection.read() }) { return notices }
        guard settings.policy.isEnabled else {
            _ = await close()
            return nil
        }
        return [await wait(after: nil)]
    }

    /// Runs work that a restart can interrupt.
    private func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        try await progress.restarts.run(after: restartCount, work)
    }

    private mutating func open(_ response: PipelineResponse) -> Notice {
        failedAttempts = 0
        // The standard clears the ID at the start of each stream, so the first event without an ID would lose the
        // place. Browsers keep the ID too.
        let parser = ServerSentEvent.Parser(maximumByteCount: settings.maximumByteCount, lastEventID: lastEventID)
        let decoder = NoticeDecoder(parser, reportsComments: reportsComments)
        phase = .open(EventConnection(response.body, decoder), since: settings.clock.now)
        var head = response
        head.body = .absent
        return Notice(response: head)
    }

    /// Closes the stream and keeps its state; returns whether it ends the series of attempts without an event.
    private mutating func close() async -> Bool {
        guard case .open(let connection, let start) = phase, let decoder = await connection.close() else {
            return false
        }
        lastEventID = decoder.parser.lastEventID
        progress.lastEventID = lastEventID
        reconnectionTime = decoder.parser.reconnectionTime ?? reconnectionTime
        return decoder.hasEvents
            || start.duration(to: settings.clock.now) >= settings.policy.maximumReconnectionTime
    }

    /// Begins the wait for the next attempt.
    private mutating func wait(after error: PipelineError?) async -> Notice {
        fruitlessAttempts = await close() ? 0 : fruitlessAttempts + 1
        let delay = settings.policy.delay(
            afterFruitlessAttempts: fruitlessAttempts,
            asked: reconnectionTime,
            using: &random
        )
        phase = isReplayed ? .connecting : .waiting(delay)
        return Notice(reconnection: .init(delay: isReplayed ? .zero : delay, error: error))
    }

    /// Begins the wait after a failure; throws the error if no attempt follows.
    private mutating func fail(with error: any Error) async throws -> Notice {
        let failure = PipelineError(
            thrown: error,
            otherwise: .transport,
            "the event stream failed with \(PipelineError.name(of: error))"
        )
        if case .connecting = phase { failedAttempts += 1 }
        let notice = await wait(after: failure)
        let hasAttempts = settings.policy.maximumFailedAttempts.map { failedAttempts < $0 } ?? true
        guard settings.policy.isEnabled, hasAttempts, failure.code != .cancelled,
            settings.policy.shouldReconnect(failure)
        else { throw failure.asThrown }
        return notice
    }
}
