import Synchronization

extension Stage {
    /// Everything inside an exchange plugin: the inner exchange plugins and the wire.
    public struct Send: Sendable {
        let hop: Hop
        /// The index of the plugin inside.
        let index: Int
        let context: PipelineContext
        let door: Door

        /// Sends the request of this hop and returns its response.
        ///
        /// It may be called several times, also concurrently. Each call runs the exchange plugins inside and may become
        /// an exchange.
        ///
        /// - Throws: ``PipelineError``; `CancellationError` if the call is cancelled. The code is
        ///   ``PipelineError/Code-swift.struct/bodyConsumed`` for a second exchange of a body that cannot be replayed,
        ///   ``PipelineError/Code-swift.struct/limit(_:)`` for too many exchanges, and
        ///   ``PipelineError/Code-swift.struct/plugin`` if the plugin has already returned.
        public func callAsFunction(_ request: PipelineRequest) async throws -> PipelineResponse {
            guard door.isOpen else {
                throw PipelineError(.plugin, "send was called after the exchange plugin had returned")
            }
            return try await hop.run(index, request, context).getPassedOn()
        }

        /// A flag that is open as long as the plugin runs.
        final class Door: Sendable {
            private let isClosed = Atomic(false)

            var isOpen: Bool { !isClosed.load(ordering: .acquiring) }

            func close() { isClosed.store(true, ordering: .releasing) }
        }
    }
}
