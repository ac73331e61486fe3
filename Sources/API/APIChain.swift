public import PipelineCore

/// Operations that run strictly one after another and whose values are returned together.
///
/// ```swift
/// let (profile, posts, friends) = try await api.send(profile().and(posts()).and(friends()))
/// ```
///
/// A chain returns up to twelve values as one tuple; send a longer chain in several parts. Its parts may be requests,
/// requests with their responses (`withResponse`), batches, or other operations. All parts are made before the first
/// one is sent. If a request needs the value of an earlier one, use a second `send`.
///
/// **Effects**: each request is sent only after the previous one has succeeded. The first failure becomes the failure
/// of the chain, and later requests are not sent. All requests go to the environment that was current when the chain
/// began. Cancelling the chain cancels the running request, and later ones are not sent.
///
/// **Errors**: those of ``APIRequest``, with the error texts of the failed request.
public struct APIChain<Value: Sendable>: APIOperation {
    private let count: Int
    private let send: @Sendable (ChainPosition) async throws(PipelineError) -> Value

    fileprivate init(count: Int, _ send: @escaping @Sendable (ChainPosition) async throws(PipelineError) -> Value) {
        self.count = count
        self.send = send
    }

    /// Returns a chain with another operation at the end; `join` combines all values into one tuple.
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

    /// Runs the operations in order, each with the same share of the progress, and returns their values.
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
    /// Returns a chain of 2 values; `next` runs last.
    @_disfavoredOverload
    public func and<Next: APIOperation>(_ next: Next) -> APIChain<(Value, Next.Value)> {
        APIChain(count: 2) { position throws(PipelineError) in
            (try await position.send(self), try await position.send(next))
        }
    }
}

/// The position in a running chain; used only by the task that runs it.
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
