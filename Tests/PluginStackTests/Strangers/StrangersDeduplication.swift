import Foundation
import Pipeline
import Synchronization

/// A plugin of another package that lets equal GET requests in flight share one exchange.
final class StrangersDeduplication: Stage.Intercept, SignOutHandling, CapabilityDeclaring {
    private struct State {
        var open: [Key: Flight] = [:]
        /// How often earlier exchanges were closed to later calls.
        var closeCount = 0
    }

    private let state = Mutex(State())

    var capabilities: Set<PluginCapability> { [.sharesResponses] }

    func signOut() { close() }

    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        guard let key = Key(request, context, next) else {
            defer { if ![.get, .head, .options, .trace].contains(request.method) { close() } }
            context.share(nil)
            return try await next(request)
        }
        let (landings, waiter) = AsyncStream<Landing>.makeStream()
        let (flight, isLeading) = arrive(key, waiter, context)
        if isLeading { lead(flight, key, request, context, next) } else { context.sentSignal?.note() }
        var landed: Landing?
        for await landing in landings { landed = landing }
        guard let landed else {
            if flight.leave(context.callID) { remove(flight, key) }
            throw CancellationError()
        }
        context.share(landed.shared, isJoined: !isLeading && !landed.isPersonal)
        if isLeading { return try landed.result.get() }
        return landed.isPersonal ? try await next(request) : try landed.result(for: request)
    }

    /// Adds the call to the exchange that another of its group has begun, or to the open one, or to a new one.
    private func arrive(
        _ key: Key,
        _ waiter: Flight.Waiter,
        _ context: PipelineContext
    ) -> (flight: Flight, isLeading: Bool) {
        let group = context.sharedOutcome?.attachment as? FlightGroup
        return state.withLock { state in
            if let flight = group?.flight(for: key), flight.closeCount == state.closeCount,
                flight.join(context, waiter, afterFailure: group?.isFailure ?? false)
            {
                return (flight, false)
            }
            if let flight = state.open[key], flight.join(context, waiter) {
                group?.set(flight, for: key)
                return (flight, false)
            }
            let flight = Flight(context, waiter, isJoint: group != nil, closeCount: state.closeCount)
            state.open[key] = flight
            group?.set(flight, for: key)
            return (flight, true)
        }
    }

    private func lead(
        _ flight: Flight,
        _ key: Key,
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ next: Stage.Next
    ) {
        let count = context.exchanges.count
        let work = flight.deadline.run {
            next.start(request) { [self] result in
                let result = await Self.buffered(result, context)
                remove(flight, key)
                let isPersonal =
                    context.identities != key.identities
                    || result.requests(after: count).contains { context.mayNameAccount($0, otherThan: request) }
                let shared = Stage.SharedOutcome(
                    endedAt: context.clock.now,
                    after: count,
                    hasStaleResponse: context[Stage.StaleUse.self] == .available,
                    attachment: FlightGroup(isFailure: result.isFailure)
                )
                flight.land(result, isPersonal: isPersonal, shared)
            }
        }
        flight.begin(work)
    }

    private func remove(_ flight: Flight, _ key: Key) {
        state.withLock { if $0.open[key] === flight { $0.open[key] = nil } }
    }

    private func close() {
        state.withLock {
            $0.open = [:]
            $0.closeCount += 1
        }
    }

    private static func buffered(
        _ result: Result<PipelineResponse, any Error>,
        _ context: PipelineContext
    ) async -> Result<PipelineResponse, any Error> {
        guard case .success(var response) = result, response.body.bytes == nil else { return result }
        do {
            response.body = .bytes(try await response.body.collect(upTo: context.limits.bufferedBodyByteCount))
            return .success(response)
        } catch {
            return .failure(error)
        }
    }
}

extension StrangersDeduplication {
    /// What must be equal for two calls to share an exchange.
    struct Key: Hashable {
        private static let ids: Set<String> = ["x-request-id", "traceparent", "tracestate"]

        private let position: Stage.Position
        private let head: [String]
        private let timeouts: [Duration?]
        private let options: [String]
        let identities: [String]

        init?(_ request: PipelineRequest, _ context: PipelineContext, _ next: Stage.Next) {
            guard request.method == .get, request.body.isAbsent, !context.wantsStream,
                Stage.SharedDeadline.current == nil, context[Stage.StaleUse.self] != .required, let url = request.url
            else { return nil }
            let fields = request.headers.filter { !Self.isID($0.name, of: request) }
                .map { "\($0.name.canonicalName): \($0.value) \(request.isSecret($0.name))" }
            position = next.position
            head = [url.absoluteString] + fields.sorted()
            identities = context.identities
            options = context.options.sharingTexts
            timeouts = [
                context.options.attemptTimeout ?? request.attemptTimeout,
                context.options.idleTimeout ?? request.idleTimeout,
            ]
        }

        /// Whether a field identifies the call and has no effect on its response.
        static func isID(_ name: HTTPField.Name, of request: PipelineRequest) -> Bool {
            ids.contains(name.canonicalName) && !request.isSecret(name)
        }
    }
}

extension Result<PipelineResponse, any Error> {
    fileprivate var isFailure: Bool {
        guard case .success(let response) = self else { return true }
        return response.statusCode >= 400
    }

    /// The requests that were sent, after a number of exchanges.
    fileprivate func requests(after count: Int) -> [PipelineRequest] {
        switch self {
        case .success(let response): [response.request] + response.exchanges.dropFirst(count).map(\.request)
        case .failure(let error as PipelineError):
            (error.request.map { [$0] } ?? []) + error.exchanges.dropFirst(count).map(\.request)
        case .failure: []
        }
    }
}
