import Synchronization

extension Stage {
    /// Everything inside an interceptor: the later plugins and the wire.
    public struct Next: Sendable {
        let interceptor: Interceptor
        let context: PipelineContext

        /// Sends the request to the later plugins and the wire, and returns the response.
        ///
        /// Each call after the first begins a new attempt, for which the later plugins prepare and process again.
        ///
        /// - Throws: ``PipelineError``, or `CancellationError` if the call was cancelled. The code is
        ///   ``PipelineError/Code-swift.struct/plugin`` if the interceptor has already returned.
        public func callAsFunction(_ request: PipelineRequest) async throws -> PipelineResponse {
            try await run(request, try begin())
        }

        /// Sends the request in a separate task, which continues after the interceptor has returned and after its call
        /// has ended.
        ///
        /// Use it for work that several calls share. Cancelling a call does not cancel the work; cancelling the task
        /// does. For the plugins inside and for observers, the work belongs to this call. It counts as a call of
        /// `next`.
        ///
        /// Where the system supports it, the task begins on the caller's thread before this function returns, and
        /// leaves that thread at its first wait. Work that does not wait, such as returning a cached response, has
        /// already ended by then. Do not hold a lock that `end` or a plugin inside needs.
        ///
        /// - Parameters:
        ///   - request: the request to send.
        ///   - end: a closure that receives what calling `next` would have returned or thrown; it runs within the task.
        /// - Returns: the task, which ends when `end` has returned.
        public func start(
            _ request: PipelineRequest,
            then end: @escaping @Sendable (Result<PipelineResponse, any Error>) async -> Void
        ) -> Task<Void, Never> {
            let begun = Result { try begin() }
            // Written out, because a closure for `SeparateTasks.startAtOnce` would be one more allocation.
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                return Task.immediate(executorPreference: SeparateTasks.executor) {
                    await run(request, begun, then: end)
                }
            }
            return Task(executorPreference: SeparateTasks.executor) { await run(request, begun, then: end) }
        }

        @concurrent
        private func run(
            _ request: PipelineRequest,
            _ begun: Result<PipelineContext, any Error>,
            then end: @Sendable (Result<PipelineResponse, any Error>) async -> Void
        ) async {
            do {
                await end(.success(try await run(request, try begun.get())))
            } catch {
                await end(.failure(error))
            }
        }

        /// The position of the interceptor, a key for what the interceptor shares between calls.
        public var position: Position { interceptor.position }

        /// Records a call of `next`.
        @inline(never)
        private func begin() throws -> PipelineContext {
            switch context.beginNext(of: interceptor.number) {
            case .first: return context
            case .again: return try context.makeNextAttempt()
            case .closed: throw PipelineError(.plugin, "next was called after the interceptor had returned")
            }
        }

        /// Inlined: each async function on the path of a call costs a frame and copies of its arguments.
        @inline(__always)
        private func run(_ request: PipelineRequest, _ context: PipelineContext) async throws -> PipelineResponse {
            try await interceptor.inside.run(request, context).getPassedOn()
        }
    }

    /// The position of an interceptor in the stack of one provider.
    ///
    /// It is equal for all calls that pass the position. It differs from every other position, including those of other
    /// providers and of providers that no longer exist.
    public struct Position: Sendable, Hashable {
        /// An object whose address is unique as long as a copy of the position lives.
        private final class Token: Sendable {}

        private let token = Token()

        /// Makes a position that differs from all others, for tests.
        public init() {}

        /// Returns whether two values are the same position of the same provider.
        public static func == (one: Position, other: Position) -> Bool { one.token === other.token }

        /// Hashes the identity of the position.
        public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(token)) }
    }
}
