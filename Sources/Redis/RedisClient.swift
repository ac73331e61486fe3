#if Redis
import Dispatch
import Synchronization

/// Up to four connections to Redis, each with a thread of its own, and the calls that wait for one of them.
///
/// A call ends no later than the timeout after it began, whatever the server, the resolver of host names and the
/// closure of the password do. A failed connection closes the client for a second, in which calls fail at once. After
/// that, one call per second is let through until one succeeds.
@_spi(Stores) public final class RedisClient: Sendable {
    /// The most connections.
    @_spi(Stores) public static let maximumConnectionCount = 4
    /// The most calls that wait for a connection.
    @_spi(Stores) public static let maximumWaitingCount = 1_000
    static let pause: Duration = .seconds(1)

    /// A thread and the connection that is used on it.
    ///
    /// `@unchecked Sendable`: `connection` is used only on `queue`, which is serial.
    private final class Slot: @unchecked Sendable {
        let queue = DispatchQueue(label: "pipeline.redis")
        var connection: RedisConnection?
    }

    private struct State {
        /// The slots without a call; those with a connection are last.
        var idle = (0..<maximumConnectionCount).map { _ in Slot() }
        var waiting: [RedisCall] = []
        /// Why and until when calls fail at once; `nil` if they do not.
        var refusal: (error: RedisError, end: ContinuousClock.Instant)?
    }

    private let server: RedisServer
    private let timeout: Duration
    private let state = Mutex(State())
    private let timer = DispatchQueue(label: "pipeline.redis.timer")

    /// Creates a client, which connects when it is first used.
    ///
    /// - Parameters:
    ///   - server: where Redis is.
    ///   - timeout: how long a connection attempt may take, and a request with the time that it waits for a connection.
    public init(_ server: RedisServer, timeout: Duration) {
        self.server = server
        self.timeout = timeout
    }

    /// The number of calls that wait for a connection.
    public var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Sends commands and returns their replies.
    ///
    /// If the task is cancelled, this throws `CancellationError` at once, but sends a request that survives
    /// cancellation nevertheless. An error reply is thrown as ``RedisError``.
    public func send(_ request: RedisRequest, survivesCancellation: Bool = false) async throws -> [RedisReply] {
        let replies = try await replies(to: request, survivesCancellation: survivesCancellation)
        for case .error(let text) in replies { throw RedisError(reply: text) }
        return replies
    }

    /// Sends commands and returns their replies, which may be errors.
    public func replies(to request: RedisRequest, survivesCancellation: Bool = false) async throws -> [RedisReply] {
        let call = makeCall(request, survivesCancellation: survivesCancellation)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                call.resumeLater(continuation)
                submit(call)
            }
        } onCancel: {
            call.cancel()
        }
    }

    /// Sends commands without waiting for their replies.
    public func post(_ request: RedisRequest) { submit(makeCall(request, survivesCancellation: true)) }

    private func makeCall(_ request: RedisRequest, survivesCancellation: Bool) -> RedisCall {
        RedisCall(request, before: .now + timeout, survivesCancellation: survivesCancellation)
    }

    // MARK: Calls

    private func submit(_ call: RedisCall) {
        guard !call.isFinished else { return }
        enum Action {
            case run(Slot)
            case wait
            case fail(RedisError)
        }
        let action: Action = state.withLock { state in
            if let refusal = state.refusal {
                let now = ContinuousClock.now
                guard now >= refusal.end else { return .fail(refusal.error) }
                state.refusal?.end = now + Self.pause
            }
            if let slot = state.idle.popLast() { return .run(slot) }
            if state.waiting.count >= Self.maximumWaitingCount { state.waiting.removeAll(where: \.isFinished) }
            guard state.waiting.count < Self.maximumWaitingCount else {
                return .fail(RedisError(.unavailable, "\(Self.maximumWaitingCount) calls are waiting"))
            }
            state.waiting.append(call)
            return .wait
        }
        switch action {
        case .run(let slot): slot.queue.async { self.run(call, on: slot) }
        case .wait: limit(call) { _ in }
        case .fail(let error): call.finish(.failure(error))
        }
    }

    /// Ends a call at its deadline if it has not ended before.
    private func limit(_ call: RedisCall, onExpiry: @escaping @Sendable (RedisError) -> Void) {
        let rest = max(0, ContinuousClock.now.duration(to: call.deadline) / .nanoseconds(1))
        timer.asyncAfter(deadline: .now() + .nanoseconds(Int(rest))) {
            let error = RedisError(.timedOut)
            if call.finish(.failure(error)) { onExpiry(error) }
        }
    }

    // MARK: On the thread of a slot

    /// Performs a call; connects first if necessary.
    private func run(_ call: RedisCall, on slot: Slot) {
        if let connection = slot.connection, !connection.isStale {
            perform(call, with: connection, on: slot)
            return
        }
        slot.connection = nil
        limit(call) { self.refuse($0) }
        guard let makePassword = server.password else {
            connect(slot, .success(nil), for: call)
            return
        }
        // Not a child of the task that waits: the connection is of use to later calls even if that task is cancelled.
        Task {
            let password: Result<String?, RedisError>
            do {
                password = .success(try await makePassword())
            } catch {
                password = .failure(RedisError(.notAllowed, "its password is not available"))
            }
            slot.queue.async { self.connect(slot, password, for: call) }
        }
    }

    private func connect(_ slot: Slot, _ password: Result<String?, RedisError>, for call: RedisCall) {
        do throws(RedisError) {
            let connection = try server.connect(password: try password.get(), timeout: timeout)
            slot.connection = connection
            perform(call, with: connection, on: slot)
        } catch {
            refuse(error)
            proceed(with: slot, hasSucceeded: false)
            call.finish(.failure(error))
        }
    }

    private func perform(_ call: RedisCall, with connection: RedisConnection, on slot: Slot) {
        guard !call.isFinished else {
            proceed(with: slot, hasSucceeded: true)
            return
        }
        do throws(RedisError) {
            let replies = try connection.perform(call.request, before: call.deadline)
            proceed(with: slot, hasSucceeded: true)
            call.finish(.success(replies))
        } catch {
            slot.connection = nil
            refuse(error)
            proceed(with: slot, hasSucceeded: false)
            call.finish(.failure(error))
        }
    }

    /// Begins the next call that waits; otherwise the slot becomes idle.
    private func proceed(with slot: Slot, hasSucceeded: Bool) {
        let hasConnection = slot.connection != nil
        let call: RedisCall? = state.withLock { state in
            if hasSucceeded { state.refusal = nil }
            while !state.waiting.isEmpty {
                let call = state.waiting.removeFirst()
                if !call.isFinished { return call }
            }
            state.idle.insert(slot, at: hasConnection ? state.idle.endIndex : 0)
            return nil
        }
        if let call { slot.queue.async { self.run(call, on: slot) } }
    }

    /// Fails the calls that wait, and those that begin during the pause.
    private func refuse(_ error: RedisError) {
        let calls = state.withLock { state in
            state.refusal = (error, .now + Self.pause)
            defer { state.waiting = [] }
            return state.waiting
        }
        for call in calls { call.finish(.failure(error)) }
    }
}
#endif
