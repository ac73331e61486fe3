import Synchronization

/// A request that can be cancelled.
@available(swift, deprecated: 7, message: "Use the task that Provider.request returns.")
public protocol Cancellable {
    /// Whether the request was cancelled.
    var isCancelled: Bool { get }

    /// Cancels the request; its completion is still called.
    func cancel()
}

/// A token that runs a closure when it is cancelled for the first time.
@available(swift, deprecated: 7, message: "Use the task that Provider.request returns.")
// The flag is atomic, and the closure runs at most once.
public final class CancellableToken: Cancellable, CustomDebugStringConvertible, @unchecked Sendable {
    private let flag = Atomic(false)
    private let action: () -> Void
    private let request: (() -> String)?

    /// Creates a token that runs a closure.
    public convenience init(action: @escaping () -> Void) {
        self.init(request: nil, action: action)
    }

    init(request: (() -> String)?, action: @escaping () -> Void) {
        self.request = request
        self.action = action
    }

    /// Whether the token was cancelled.
    public var isCancelled: Bool { flag.load(ordering: .acquiring) }

    /// Runs the closure, unless the token was cancelled before.
    public func cancel() {
        if !flag.exchange(true, ordering: .acquiringAndReleasing) { action() }
    }

    /// The method and the URL of the request, without query values.
    public var debugDescription: String { request?() ?? "Empty Request" }
}

/// The token that a provider returns before it knows how the request is sent.
final class RequestCancellable: Cancellable, Sendable {
    /// What to do when the request closure responds.
    enum Start {
        case begin
        case endCancelled
        case ignore
    }

    private struct State {
        var isCancelled = false
        var hasStarted = false
        var token: CancellableToken?
    }

    private let state = Mutex(State())

    var isCancelled: Bool {
        state.withLock { $0.token?.isCancelled ?? $0.isCancelled }
    }

    func cancel() {
        let token = state.withLock { state in
            state.isCancelled = true
            return state.token
        }
        token?.cancel()
    }

    /// Returns what to do; a request closure that responds twice is ignored the second time.
    func start() -> Start {
        state.withLock { state in
            guard !state.hasStarted else { return .ignore }
            state.hasStarted = true
            return state.isCancelled ? .endCancelled : .begin
        }
    }

    /// Passes cancellation on to a token.
    func pass(to token: CancellableToken) {
        let isCancelled = state.withLock { state in
            state.token = token
            return state.isCancelled
        }
        if isCancelled { token.cancel() }
    }
}
