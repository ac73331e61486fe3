import Synchronization

/// What all copies of a call's context share.
@usableFromInline
final class CallState: Sendable {
    /// When an exchange that has not ended got its connection, `nil` while it waits.
    private struct Connection {
        let key: PipelineContext.ExchangeID
        var since: PipelineClock.Instant?
    }

    private struct Shared {
        var exchanges: [PipelineExchange] = []
        /// Of the exchanges whose transport reports connections.
        var connections: [Connection] = []
        var attemptCount = 1
        /// When the header fields of the last response came, unless its body came with them.
        var lastHead: PipelineClock.Instant?
        /// A few at most: they are found faster in turn than by a hash.
        var values: [(key: ObjectIdentifier, value: any Sendable)] = []
        /// The keys whose values calls in the background begin with.
        var inheritedKeys: Set<ObjectIdentifier> = []

        func valueIndex(_ key: ObjectIdentifier) -> Int? { values.firstIndex { $0.key == key } }

        func connectionIndex(_ key: PipelineContext.ExchangeID) -> Int? { connections.firstIndex { $0.key == key } }
    }

    let id: Int
    /// The number of the call that began this one in the background.
    let parentID: Int?
    let target: any TargetType
    let endpoint: Endpoint
    let options: RequestOptions
    let start: PipelineClock.Instant
    let isStreaming: Bool
    /// Where the answer is put, for a call that is not read as a stream.
    let download: Download?
    let meter: ProgressMeter?
    /// Called before each exchange.
    let onStart: (@Sendable () -> Void)?
    /// Whether it is the request's body whose progress matters.
    let isUpload: Bool
    let settings: CallSettings
    /// Of the first pass.
    let marks = InterceptorMarks()
    private let shared = Mutex(Shared())

    init(
        target: any TargetType,
        endpoint: Endpoint,
        options: RequestOptions,
        isStreaming: Bool,
        meter: ProgressMeter?,
        onStart: (@Sendable () -> Void)?,
        settings: CallSettings
    ) {
        self.id = settings.nextID()
        self.parentID = nil
        self.target = target
        self.endpoint = endpoint
        self.options = options
        self.isStreaming = isStreaming
        self.download = isStreaming ? nil : endpoint.task.destination.map(Download.init)
        self.meter = meter
        self.onStart = onStart
        self.isUpload = meter != nil && endpoint.task.isUpload
        self.settings = settings
        self.start = settings.clock.now
    }

    /// Makes a call that another one begins in the background: with its target, its options and the values that are inherited.
    init(childOf parent: CallState) {
        id = parent.settings.nextID()
        parentID = parent.id
        target = parent.target
        endpoint = parent.endpoint
        options = parent.options
        isStreaming = false
        download = nil
        meter = nil
        onStart = nil
        isUpload = false
        settings = parent.settings
        start = parent.settings.clock.now
        let (values, keys) = parent.shared.withLock { ($0.values, $0.inheritedKeys) }
        shared.withLock { shared in
            shared.values = values.filter { keys.contains($0.key) }
            shared.inheritedKeys = keys
        }
    }

    var exchanges: [PipelineExchange] {
        shared.withLock { $0.exchanges }
    }

    /// Adds an exchange that has ended, or whose body has not ended yet, with its wait for a connection, and returns all so far.
    func append(_ exchange: PipelineExchange) -> [PipelineExchange] {
        shared.withLock {
            var exchange = exchange
            if let index = $0.connectionIndex(exchange.id) {
                let connection = $0.connections.remove(at: index)
                exchange.connectionWait =
                    connection.since.map { start.duration(to: $0) - exchange.start } ?? exchange.duration
            }
            $0.exchanges.append(exchange)
            return $0.exchanges
        }
    }

    /// Changes an exchange and returns all so far.
    func change(_ id: PipelineContext.ExchangeID, _ change: (inout PipelineExchange) -> Void) -> [PipelineExchange] {
        shared.withLock { shared in
            if let index = shared.exchanges.lastIndex(where: { $0.id == id }) { change(&shared.exchanges[index]) }
            return shared.exchanges
        }
    }

    /// Notes that an exchange waits for its first connection.
    func noteConnectionWait(of key: PipelineContext.ExchangeID) {
        shared.withLock {
            guard $0.connectionIndex(key) == nil else { return }
            $0.connections.append(Connection(key: key))
        }
    }

    /// Notes when an exchange got its first connection.
    func noteConnection(at now: PipelineClock.Instant, of key: PipelineContext.ExchangeID) {
        shared.withLock {
            if let index = $0.connectionIndex(key) {
                if $0.connections[index].since == nil { $0.connections[index].since = now }
            } else {
                $0.connections.append(Connection(key: key, since: now))
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

    /// Notes that the call ends before it has a request.
    func noteUnbegun() {
        shared.withLock { $0.attemptCount = 0 }
    }

    /// Notes when a response came.
    func noteHead(of response: PipelineResponse) {
        guard isObserved else { return }
        let now = response.body.inMemoryByteCount == nil ? settings.clock.now : nil
        shared.withLock { $0.lastHead = now }
    }

    @usableFromInline
    func value(for key: ObjectIdentifier) -> (any Sendable)? {
        shared.withLock { shared in shared.valueIndex(key).map { shared.values[$0].value } }
    }

    /// Changes a value under the lock.
    func update<Value: Sendable, Output: Sendable, Failure: Error>(
        _ key: ObjectIdentifier,
        from initial: Value,
        isInherited: Bool,
        _ change: (inout Value) throws(Failure) -> Output
    ) throws(Failure) -> Output {
        try shared.withLock { shared throws(Failure) in
            let index = shared.valueIndex(key)
            var value = initial
            if let index {
                value = shared.values[index].value as? Value ?? initial
                // Released there, so that a collection is changed in place.
                shared.values[index].value = ()
            }
            defer { if let index { shared.values[index].value = value } else { shared.values.append((key, value)) } }
            if isInherited { shared.inheritedKeys.insert(key) }
            return try change(&value)
        }
    }
}

// MARK: The end

extension CallState {
    /// Whether a plugin sees how the call ended.
    var isObserved: Bool { !settings.finishers.isEmpty }

    /// Shows the plugins how the call ended.
    ///
    /// - Parameters:
    ///   - error: why it did not succeed.
    ///   - response: the response, also of a failure that came after it.
    ///   - byteCount: how many bytes of its body were read, `nil` for all of them.
    func finish(_ error: PipelineError?, _ response: PipelineResponse?, byteCount: Int? = nil) {
        guard isObserved else { return }
        let now = settings.clock.now
        let (attemptCount, exchanges, head) = shared.withLock { ($0.attemptCount, $0.exchanges, $0.lastHead) }
        let kind: Stage.Outcome.Kind
        if let error { kind = error.code == .cancelled ? .cancelled : .failure } else { kind = .success }
        let outcome = Stage.Outcome(
            kind: kind,
            error: error,
            statusCode: response?.statusCode,
            attemptCount: attemptCount,
            exchanges: exchanges,
            receivedByteCount: byteCount ?? response?.body.byteCount ?? 0,
            duration: start.duration(to: now),
            timeToFirstByte: head.map { start.duration(to: $0) }
        )
        let context = PipelineContext(call: self)
        // A call that a plugin makes here counts as made inside this one.
        CallDepth.$current.withValue(CallDepth.current + 1) {
            for plugin in settings.finishers { plugin.didFinish(outcome, context: context) }
        }
    }
}
