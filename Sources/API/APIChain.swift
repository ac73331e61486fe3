public import Pipeline

/// Requests that run strictly one after another, with all their values at the end.
///
/// ```swift
/// let (profile, posts, friends) = try await api.send(profile().and(posts()).and(friends()))
/// ```
///
/// Up to twelve values come as one tuple; a longer chain is sent in several parts. Its parts are requests, also with their responses (`withResponse`), batches, or any other operation. All are made before the first is
/// sent: a request that needs a value of the one before is a second `send`.
///
/// **Effects**: a request is sent when the one before it has succeeded, and only then. The first failure ends the chain, and is that of
/// the chain; later requests are never sent. All go to the environment that was current as the chain began. Cancelling ends the request
/// that is running, and none of the later parts begins.
///
/// **Errors**: those of ``APIRequest``; the failed request's texts are its own.
public struct APIChain<Value: Sendable>: APIOperation {
    private let count: Int
    private let send: @Sendable (ChainPosition) async throws(PipelineError) -> Value

    fileprivate init(count: Int, _ send: @escaping @Sendable (ChainPosition) async throws(PipelineError) -> Value) {
        self.count = count
        self.send = send
    }

    /// The chain with one more request at its end; `join` makes one tuple of all values.
    func adding<Next: APIOperation, Longer>(
        _ next: Next,
        _ join: @escaping @Sendable (Value, Next.Value) -> Longer
    ) -> APIChain<Longer> {
        let send = send
        return APIChain<Longer>(count: count + 1) { position throws(PipelineError) in
            let values = try await send(position)
            return join(values, try await position.send(next))
        }
    }

    /// Sends the requests, each a share of the progress.
    public func run(
        in client: APIClient,
        observer: APIObserver
    ) async -> Result<Value, PipelineError> {
        let shares = observer.onProgress.map { ProgressShares(count: count, report: $0) }
        do throws(PipelineError) {
            return .success(try await send(ChainPosition(client: client.pinned, observer: observer, shares: shares)))
        } catch {
            return .failure(error)
        }
    }
}

extension APIOperation {
    /// A chain of this and another.
    public func and<Next: APIOperation>(_ next: Next) -> APIChain<(Value, Next.Value)> {
        APIChain(count: 2) { position throws(PipelineError) in
            (try await position.send(self), try await position.send(next))
        }
    }
}

/// How far a chain has come; only the task that runs the chain uses it.
private final class ChainPosition {
    private let client: APIClient
    private let observer: APIObserver
    private let shares: ProgressShares?
    private var index = 0

    init(client: APIClient, observer: APIObserver, shares: ProgressShares?) {
        self.client = client
        self.observer = observer
        self.shares = shares
    }

    func send<Operation: APIOperation>(_ operation: Operation) async throws(PipelineError) -> Operation.Value {
        defer { index += 1 }
        if Task.isCancelled { throw PipelineError(.cancelled, "the chain was cancelled") }
        let value = try await operation.run(in: client, observer: observer.part(shares?.part(index))).get()
        shares?.end(index)
        return value
    }
}
