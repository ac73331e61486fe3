import Synchronization

extension Stage {
    /// All that is inside an interceptor: the later plugins and the wire.
    public struct Next: Sendable {
        let interceptor: Interceptor
        let context: PipelineContext

        /// Sends the request on.
        ///
        /// Each call after the first begins a new attempt: later plugins prepare and process again.
        ///
        /// - Throws: ``PipelineError``, or `CancellationError` when the call was cancelled; a ``PipelineError`` with code
        ///   ``PipelineError/Code-swift.struct/plugin`` when the interceptor has returned already.
        public func callAsFunction(_ request: PipelineRequest) async throws -> PipelineResponse {
            try await run(request, try begin())
        }

        /// Sends the request on in a task of its own, which goes on when the interceptor has returned and when its call has ended.
        ///
        /// For work that several calls share: it is not cancelled with a call, only through the task. To the plugins inside and to
        /// the observers it belongs to this call. It counts as a call of `next`.
        ///
        /// Where the system can do so, the task begins on the caller's thread, before this function returns, and leaves it when it first
        /// waits. What need not wait, such as a cached response, has ended by then. Do not hold a lock that `end` or a plugin inside
        /// needs.
        ///
        /// - Parameters:
        ///   - request: the request.
        ///   - end: gets what calling `next` would have returned or thrown, within the task.
        /// - Returns: the task; it has ended when `end` has returned.
        public func start(
            _ request: PipelineRequest,
            then end: @escaping @Sendable (Result<PipelineResponse, any Error>) async -> Void
        ) -> Task<Void, Never> {
            let begun = Result { try begin() }
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                return Task.immediate { await run(request, begun, then: end) }
            }
            return Task { await run(request, begun, then: end) }
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

        /// The position of the interceptor, as a key for what it shares between calls.
        public var position: Position { interceptor.position }

        /// Notes that `next` is called.
        @inline(never)
        private func begin() throws -> PipelineContext {
            switch context.beginNext(of: interceptor.number) {
            case .first: return context
            case .again: return try context.makeNextAttempt()
            case .closed: throw PipelineError(.plugin, "next was called after the interceptor had returned")
            }
        }

        /// Inlined: each async function on the way of a call costs a frame and copies of what it hands on.
        @inline(__always)
        private func run(_ request: PipelineRequest, _ context: PipelineContext) async throws -> PipelineResponse {
            try await interceptor.inside.run(request, context).getPassedOn()
        }
    }

    /// The position of an interceptor in the stack of one provider.
    ///
    /// It is equal for all calls that pass the position and differs from that of every other position and provider, also of one that
    /// exists no longer.
    public struct Position: Sendable, Hashable {
        /// Its address is unique as long as a copy of the position lives.
        private final class Token: Sendable {}

        private let token = Token()

        /// Makes a position that differs from all others, for tests.
        public init() {}

        /// Whether two positions are the same one of the same provider.
        public static func == (one: Position, other: Position) -> Bool { one.token === other.token }

        /// Hashes the identity of the position.
        public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(token)) }
    }
}
