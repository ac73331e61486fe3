import HTTPTypes
import Synchronization

/// The state that all copies of a call's context share.
@usableFromInline
final class CallState: Sendable {
    /// The moment when an exchange in progress got its connection; `nil` while it waits.
    private struct Connection {
        let key: PipelineContext.ExchangeID
        var since: PipelineClock.Instant?
        var facts: PipelineExchange.Connection?
    }

    private struct Shared {
        var exchanges: [PipelineExchange] = []
        /// The connections of exchanges whose transport reports them.
        var connections: [Connection] = []
        var attemptCount = 1
        var annotations: [(attempt: Int, hop: Int, annotation: PipelineContext.Annotation)] = []
        /// The header fields of requests that a transport has changed before it sent them.
        var sentFields: [(key: PipelineContext.ExchangeID, fields: HTTPFields)] = []
        /// The moment when the header fields of the last response arrived; `nil` if its body arrived with them.
        var lastHead: PipelineClock.Instant?
        /// A few at most, which a linear search finds faster than a hash.
        var values: [(key: ObjectIdentifier, value: any Sendable)] = []
        /// The keys of the values that background calls inherit.
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
    let form: CallForm
    /// Whether the body of a background call is read in pieces, which no plugin sees.
    let isOpen: Bool
    /// The destination of the response's body, for a call that is not read as a stream.
    let download: Download?
    let meter: ProgressMeter?
    /// Called before each exchange.
    let onStart: (@Sendable () -> Void)?
    /// Whether progress measures the request's body.
    let isUpload: Bool
    let settings: CallSettings
    /// The timeline; `nil` unless calls record it.
    let timeline: TimelineRecorder?
    /// The marks of the first pass.
    let marks = InterceptorMarks()
    private let shared = Mutex(Shared())

    init(
        target: any TargetType,
        endpoint: Endpoint,
        options: RequestOptions,
        form: CallForm,
        meter: ProgressMeter?,
        onStart: (@Sendable () -> Void)?,
        settings: CallSettings
    ) {
        self.id = settings.nextID()
        self.parentID = nil
        self.target = target
        self.endpoint = endpoint
        self.options = options
        self.form = form
        isOpen = false
        self.download = form == .stream ? nil : endpoint.task.destination.map(Download.init)
        self.meter = meter
        self.onStart = onStart
        self.isUpload = meter != nil && endpoint.task.isUpload
        self.settings = settings
        let start = settings.clock.now
        self.start = start
        timeline = settings.timeline.map { TimelineRecorder(endpoint, $0, from: start) }
    }

    /// Makes a background call of another call, with its target, its options and the values that are inherited.
    init(childOf parent: CallState, isOpen: Bool) {
        id = parent.settings.nextID()
        parentID = parent.id
        target = parent.target
        endpoint = parent.endpoint
        options = parent.options
        form = .response
        self.isOpen = isOpen
        download = nil
        meter = nil
        onStart = nil
        isUpload = false
        settings = parent.settings
        let start = settings.clock.now
        self.start = start
        timeline = parent.settings.timeline.map { TimelineRecorder(parent.endpoint, $0, from: start) }
        let (values, keys) = parent.shared.withLock { ($0.values, $0.inheritedKeys) }
        shared.withLock { shared in
            shared.values = values.filter { keys.contains($0.key) }
            shared.inheritedKeys = keys
        }
    }

    var exchanges: [PipelineExchange] {
        shared.withLock { $0.exchanges }
    }

    /// Adds an exchange that has ended, or whose body has not, with its wait for a connection.
    ///
    /// Returns all exchanges so far.
    func append(_ exchange: PipelineExchange) -> [PipelineExchange] {
        shared.withLock {
            var exchange = exchange
            if let index = $0.connectionIndex(exchange.id) {
                let connection = $0.connections.remove(at: index)
                exchange.connectionWait =
                    connection.since.map { max(start.duration(to: $0) - exchange.start, .zero) } ?? exchange.duration
                exchange.connection = connection.facts
            }
            if !$0.annotations.isEmpty {
                let (attempt, hop) = (exchange.attempt, exchange.hop)
                exchange.annotations = $0.annotations.filter { $0.attempt == attempt && $0.hop == hop }
                    .map(\.annotation)
            }
            if let index = $0.sentFields.firstIndex(where: { $0.key == exchange.id }) {
                exchange.request.headers = $0.sentFields.remove(at: index).fields
            }
            $0.exchanges.append(exchange)
            return $0.exchanges
        }
    }

    /// Changes an exchange.
    ///
    /// Returns all exchanges so far.
    func change(_ id: PipelineContext.ExchangeID, _ change: (inout PipelineExchange) -> Void) -> [PipelineExchange] {
        shared.withLock { shared in
            if let index = shared.exchanges.lastIndex(where: { $0.id == id }) { change(&shared.exchanges[index]) }
            return shared.exchanges
        }
    }

    /// Records the header fields of a request that the transport has changed before it sent it.
    func noteSentFields(_ fields: HTTPFields, of key: PipelineContext.ExchangeID) {
        shared.withLock { $0.sentFields.append((key, fields)) }
    }

    /// Records that an exchange waits for its first connection.
    func noteConnectionWait(of key: PipelineContext.ExchangeID) {
        shared.withLock {
            guard $0.connectionIndex(key) == nil else { return }
            $0.connections.append(Connection(key: key))
        }
    }

    /// Records when an exchange got its first connection, and what is known of its latest one.
    func noteConnection(
        _ facts: PipelineExchange.Connection?,
        at now: PipelineClock.Instant,
        of key: PipelineContext.ExchangeID
    ) {
        shared.withLock {
            if let index = $0.connectionIndex(key) {
                if $0.connections[index].since == nil { $0.connections[index].since = now }
                if let facts { $0.connections[index].facts = facts }
            } else if let index = $0.exchanges.lastIndex(where: { $0.id == key }) {
                // The header fields of a stream were there before the transport reported its connection.
                $0.exchanges[index].connection = facts ?? $0.exchanges[index].connection
            } else {
                $0.connections.append(Connection(key: key, since: now, facts: facts))
            }
        }
    }

    /// Records on the exchange that ended last why no retry follows.
    ///
    /// Returns all exchanges so far.
    func noteRefusedRetry(_ refusal: PipelineExchange.RetryRefusal) -> [PipelineExchange] {
        shared.withLock {
            guard let last = $0.exchanges.indices.last else { return [] }
            $0.exchanges[last].refusedRetry = refusal
            return $0.exchanges
        }
    }

    var annotations: [PipelineContext.Annotation] { shared.withLock { $0.annotations.map(\.annotation) } }

    /// Records what a plugin did in an attempt and a hop, also on their exchanges.
    func annotate(_ annotation: PipelineContext.Annotation, _ attempt: Int, _ hop: Int) {
        shared.withLock { shared in
            guard shared.annotations.count < 100 else { return }
            shared.annotations.append((attempt, hop, annotation))
            for index in shared.exchanges.indices {
                let exchange = shared.exchanges[index]
                guard exchange.attempt == attempt, exchange.hop == hop else { continue }
                shared.exchanges[index].annotations.append(annotation)
            }
        }
    }

    func beginAttempt() -> Int {
        shared.withLock {
            $0.attemptCount += 1
            return $0.attemptCount
        }
    }

    /// Records that the call ends before it has a request.
    func noteUnbegun() {
        shared.withLock { $0.attemptCount = 0 }
    }

    /// Records when a response arrived.
    func noteHead(of response: PipelineResponse) {
        guard isObserved else { return }
        let now = response.body.inMemoryByteCount == nil ? settings.clock.now : nil
        shared.withLock { $0.lastHead = now }
    }

    @usableFromInline
    func value(for key: ObjectIdentifier) -> (any Sendable)? {
        shared.withLock { shared in shared.valueIndex(key).map { shared.values[$0].value } }
    }

    /// Changes a shared value under the lock.
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
                // The stored copy is released, so that a collection is changed in place.
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

    /// Records that the call has ended, so that ``Provider/drain(within:)`` no longer waits for it.
    ///
    /// A background call counts until its plugin has received the result.
    func leave() {
        if parentID == nil { settings.inProgress.end() }
    }

    /// Shows the plugins how the call ended.
    ///
    /// - Parameters:
    ///   - error: the reason why the call did not succeed.
    ///   - response: the response, even if the call failed after it arrived.
    ///   - byteCount: the number of bytes of its body that were read; `nil` for all of them.
    func finish(_ error: PipelineError?, _ response: PipelineResponse?, byteCount: Int? = nil) {
        timeline?.endCall(error, response?.statusCode)
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
            annotations: annotations,
            receivedByteCount: byteCount ?? response?.body.byteCount ?? 0,
            duration: start.duration(to: now),
            timeToFirstByte: head.map { start.duration(to: $0) },
            timeline: shownTimeline
        )
        let context = PipelineContext(call: self)
        // A call that a plugin makes here counts as nested in this one.
        CallDepth.$current.withValue(CallDepth.current + 1) {
            for plugin in settings.finishers { plugin.didFinish(outcome, context: context) }
        }
    }
}
