public import Pipeline

/// Ends attempts, bodies and whole calls that take too long.
///
/// ```swift
/// TimeoutPlugin(attempt: .seconds(10), total: .seconds(30), idle: .seconds(10))
/// ```
///
/// One call sets its own, which win: `options: .init { $0.totalTimeout = .seconds(120) }`, and likewise `attemptTimeout` and
/// `idleTimeout`. A time of years is as good as none.
///
/// **Position**: outermost, but for plugins that only watch or hold the answer back: `total` ends what is inside, and not what a
/// plugin outside waits for. Outside a plugin that shares requests, so that a caller whose time is up leaves alone. `attempt` and
/// `idle` hold wherever the plugin stands, inside or outside of a plugin that sends again. Of two in one stack the inner one's
/// `attempt` and `idle` hold, and the shorter `total`.
///
/// **Effects**: states `attempt` and `idle` in the request, and the core enforces them for each exchange, also one that follows a
/// redirect. `attempt` counts from the moment an exchange has a connection, or from its start where the transport does not report
/// that, to its last byte; for a streamed call to its header fields. `idle` counts
/// while the next bytes of a body are awaited whose header fields are there, buffered, written to a file or streamed; a transport
/// that cannot measure this for a body that it buffers hands it over as it arrives. `total` counts from the start of the call, with everything that plugins
/// outside have done; it is told to every plugin as `context.deadline`. When it has passed, what is inside is cancelled, and the
/// call ends when that has ended; when it has passed before, nothing inside begins. A streamed body has to be read to its end by
/// then. A call for which no time is set is not touched. Nothing is kept between calls.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `attempt` | `nil`: no limit | more than zero, not longer than `total` |
/// | `total` | `nil`: no limit | more than zero |
/// | `idle` | `nil`: no limit but the transport's own | more than zero, not longer than `total` |
///
/// At least one has to be given.
///
/// **Errors**: `timeout.attempt`, `timeout.idle` and `timeout.total` say which time was up; the first two are failures of an
/// exchange, which a plugin that sends again may answer with the next attempt. The error lists the exchanges until then. A call that
/// is cancelled ends as cancelled, and every other failure is passed on.
///
/// **Secrets**: none; errors hold durations only.
public struct TimeoutPlugin: Stage.Prepare, Stage.Intercept {
    private let attempt: Duration?
    private let total: Duration?
    private let idle: Duration?

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - attempt: the longest that one exchange may take.
    ///   - total: the longest that the whole call may take.
    ///   - idle: the longest that a body may go without a byte.
    public init(attempt: Duration? = nil, total: Duration? = nil, idle: Duration? = nil) {
        precondition(
            attempt != nil || total != nil || idle != nil,
            "attempt, total and idle are nil, at least one has to be given"
        )
        for (name, timeout) in [("attempt", attempt), ("total", total), ("idle", idle)] {
            guard let timeout else { continue }
            precondition(timeout > .zero, "\(name) is \(timeout), not more than zero")
            if let total { precondition(timeout <= total, "\(name) is \(timeout), longer than total, \(total)") }
        }
        self.attempt = attempt
        self.total = total
        self.idle = idle
    }

    /// States the times of each exchange.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        if let attempt { request.attemptTimeout = attempt }
        if let idle { request.idleTimeout = idle }
    }

    /// Ends what is inside when the time of the call is up.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        guard let total = context.options.totalTimeout ?? total else { return try await next(request) }
        let deadline = context.start.advanced(by: total)
        context.setDeadline(deadline)
        var response = try await context.clock.run(until: deadline, throwing: Self.isUp(total)) {
            try await next(request)
        }
        if context.isStreaming {
            response.body = response.body.timed(until: deadline, on: context.clock, throwing: Self.isUp(total))
        }
        return response
    }

    private static func isUp(_ total: Duration) -> PipelineError {
        PipelineError(.timeout(.total), "the call took longer than \(total)")
    }
}

extension TimeoutPlugin {
    /// Without a `total`, the plugin intercepts only calls that set `totalTimeout`; without `attempt` and `idle`, it prepares none.
    public var idleStages: [Stage.Kind: Set<RequestOptions.PluginOption>] {
        var stages: [Stage.Kind: Set<RequestOptions.PluginOption>] = [:]
        if total == nil { stages[.intercept] = [.totalTimeout] }
        if attempt == nil, idle == nil { stages[.prepare] = [] }
        return stages
    }
}

extension TimeoutPlugin: CapabilityDeclaring {
    private static let setsAttempt = PluginCapability("sets an attempt timeout")
    private static let setsIdle = PluginCapability("sets an idle timeout")

    /// `PluginCapability.spansCalls` with a `total`, and one of its own for each of `attempt` and `idle`.
    public var capabilities: Set<PluginCapability> {
        var capabilities: Set<PluginCapability> = []
        if total != nil { capabilities.insert(.spansCalls) }
        if attempt != nil { capabilities.insert(Self.setsAttempt) }
        if idle != nil { capabilities.insert(Self.setsIdle) }
        return capabilities
    }

    /// Finds two plugins that set the same time.
    public var orderRules: [OrderRule] {
        [("attempt", Self.setsAttempt), ("idle", Self.setsIdle)].map { name, capability in
            OrderRule(
                "\(name)-timeout-twice",
                [capability],
                .inside,
                [capability],
                consequence: "the \(name) timeout of the inner one always replaces that of the outer one",
                remedy: "remove one of the two timeouts"
            )
        }
    }
}
