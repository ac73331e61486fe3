import Synchronization

extension Stage {
    /// The exchange plugins inside another one, and the wire.
    public struct Send: Sendable {
        let hop: Hop
        /// Of the plugin that is inside.
        let index: Int
        let context: PipelineContext
        let door: Door

        /// Sends the request of this hop.
        ///
        /// It may be called several times, also concurrently: each call runs the exchange plugins inside and may become an exchange.
        ///
        /// - Throws: ``PipelineError``, with code ``PipelineError/Code-swift.struct/bodyConsumed`` for a second exchange of a body that cannot
        ///   be replayed, ``PipelineError/Code-swift.struct/limit(_:)`` for too many exchanges, and
        ///   ``PipelineError/Code-swift.struct/plugin`` after the plugin has returned; `CancellationError` when the call is cancelled.
        public func callAsFunction(_ request: PipelineRequest) async throws -> PipelineResponse {
            guard door.isOpen else {
                throw PipelineError(.plugin, "send was called after the exchange plugin had returned")
            }
            return try await hop.run(index, request, context).getPassedOn()
        }

        /// Whether the plugin still runs.
        final class Door: Sendable {
            private let isClosed = Atomic(false)

            var isOpen: Bool { !isClosed.load(ordering: .acquiring) }

            func close() { isClosed.store(true, ordering: .releasing) }
        }
    }
}
