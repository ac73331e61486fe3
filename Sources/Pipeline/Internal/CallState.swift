import Synchronization

/// What a provider was configured with, for every call.
final class CallSettings: Sendable {
    let limits: PipelineLimits
    let redirects: RedirectPolicy
    let clock: PipelineClock
    let random: PipelineRandom
    let transportDecodesContent: Bool

    init(
        limits: PipelineLimits,
        redirects: RedirectPolicy,
        clock: PipelineClock,
        random: PipelineRandom,
        transportDecodesContent: Bool
    ) {
        self.limits = limits
        self.redirects = redirects
        self.clock = clock
        self.random = random
        self.transportDecodesContent = transportDecodesContent
    }
}

/// What all copies of a call's context share.
@usableFromInline
final class CallState: Sendable {
    /// When an exchange that has not ended got its connection, `nil` while it waits.
    private struct Connection {
        let attempt: Int
        let hop: Int
        var since: PipelineClock.Instant?
    }

    private struct Shared {
        var exchanges: [PipelineExchange] = []
        /// Of the exchanges whose transport reports connections.
        var connections: [Connection] = []
        var attemptCount = 1
        var values: [ObjectIdentifier: any Sendable] = [:]

        func connectionIndex(_ attempt: Int, _ hop: Int) -> Int? {
            connections.firstIndex { $0.attempt == attempt && $0.hop == hop }
        }
    }

    let id: Int
    let target: any TargetType
    let endpoint: Endpoint
    let options: RequestOptions
    let start: PipelineClock.Instant
    let isStreaming: Bool
    /// Where the answer is put, for a call that is not read as a stream.
    let download: Download?
    let meter: ProgressMeter?
    /// Whether it is the request's body whose progress matters.
    let isUpload: Bool
    let settings: CallSettings
    /// Of the first pass.
    let marks = InterceptorMarks()
    private let shared = Mutex(Shared())

    init(
        id: Int,
        target: any TargetType,
        endpoint: Endpoint,
        options: RequestOptions,
        isStreaming: Bool,
        meter: ProgressMeter?,
        settings: CallSettings
    ) {
        self.id = id
        self.target = target
        self.endpoint = endpoint
        self.options = options
        self.isStreaming = isStreaming
        self.download = isStreaming ? nil : endpoint.task.destination.map(Download.init)
        self.meter = meter
        self.isUpload = meter != nil && endpoint.task.isUpload
        self.settings = settings
        self.start = settings.clock.now
    }

    var exchanges: [PipelineExchange] {
        shared.withLock { $0.exchanges }
    }

    /// Adds an exchange that has ended, with its wait for a connection, and returns all so far.
    func append(_ exchange: PipelineExchange) -> [PipelineExchange] {
        shared.withLock {
            var exchange = exchange
            if let index = $0.connectionIndex(exchange.attempt, exchange.hop) {
                let connection = $0.connections.remove(at: index)
                exchange.connectionWait =
                    connection.since.map { start.duration(to: $0) - exchange.start } ?? exchange.duration
            }
            $0.exchanges.append(exchange)
            return $0.exchanges
        }
    }

    /// Notes that an exchange waits for its first connection.
    func noteConnectionWait(attempt: Int, hop: Int) {
        shared.withLock {
            guard $0.connectionIndex(attempt, hop) == nil else { return }
            $0.connections.append(Connection(attempt: attempt, hop: hop))
        }
    }

    /// Notes when an exchange got its first connection.
    func noteConnection(at now: PipelineClock.Instant, attempt: Int, hop: Int) {
        shared.withLock {
            if let index = $0.connectionIndex(attempt, hop) {
                if $0.connections[index].since == nil { $0.connections[index].since = now }
            } else {
                $0.connections.append(Connection(attempt: attempt, hop: hop, since: now))
            }
        }
    }

    /// Notes on the exchange that ended last why no retry follows, and returns all so far.
    func noteRefusedRetry(_ refusal: PipelineExchange.RetryRefusal) -> [PipelineExchange] {
        shared.withLock {
            guard let last = $0.exchanges.indices.last else { return [] }
            $0.exchanges[last].refusedRetry = refusal
            return $0.exchanges
        }
    }

    func beginAttempt() -> Int {
        shared.withLock {
            $0.attemptCount += 1
            return $0.attemptCount
        }
    }

    @usableFromInline
    func value(for key: ObjectIdentifier) -> (any Sendable)? {
        shared.withLock { $0.values[key] }
    }

    @usableFromInline
    func set(_ value: any Sendable, for key: ObjectIdentifier) {
        shared.withLock { $0.values[key] = value }
    }
}
