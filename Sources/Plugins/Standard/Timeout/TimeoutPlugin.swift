public import PipelineCore

/// A plugin that limits how long attempts, bodies and whole calls may take.
///
/// ```swift
/// TimeoutPlugin(attempt: .seconds(10), total: .seconds(30), idle: .seconds(10))
/// ```
///
/// A call can override each limit with an option: `options: .init { $0.totalTimeout = .seconds(120) }`, and likewise
/// `attemptTimeout` and `idleTimeout`. A limit of years has the same effect as no limit.
///
/// **Effects**
///
/// - `attempt` runs from the moment an exchange has a connection to its last byte, or to its header fields for a
///   streamed call. If the transport does not report the connection, it runs from the start of the exchange. It does
///   not apply to downloads, and to uploads of files, streams and forms that contain them, because their size decides
///   their duration: `idle` and the transport limit their pauses. The option `attemptTimeout` applies to every call.
/// - `idle` limits the wait for the next bytes of a body after its header fields have arrived, whether the body is
///   buffered, written to a file or streamed. A transport that cannot measure this for a buffered body delivers the
///   body as it arrives.
/// - `total` runs from the start of the call, including the time spent in outer plugins. Every plugin sees it as
///   `context.deadline`.
/// - Sets `attempt` and `idle` in the request. The core enforces them for each exchange, including those that follow a
///   redirect.
/// - When `total` has passed, cancels the work inside, and the call ends when that work has ended. If it has already
///   passed, no work begins. A streamed body must be read to its end before then.
/// - Does not touch a call without any limit, and keeps nothing between calls.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `attempt` | `nil`: no limit | more than zero, not longer than `total` |
/// | `total` | `nil`: no limit | more than zero |
/// | `idle` | `nil`: only the transport's own limit | more than zero, not longer than `total` |
///
/// At least one is required.
///
/// **Position**
///
/// - Outermost, except for plugins that only observe or delay the result. `total` ends what is inside the plugin, but
///   not what an outer plugin waits for.
/// - Outside a plugin that shares requests, so that only the caller that times out leaves.
/// - `attempt` and `idle` apply in any position, inside or outside a plugin that retries.
/// - If a stack has two, the inner `attempt` and `idle` apply, and the shorter `total`.
///
/// **Errors**: `timeout.attempt`, `timeout.idle` or `timeout.total`, depending on which limit was exceeded. The first
/// two are failures of an exchange, after which an outer plugin may retry. The error lists the exchanges so far. A
/// cancelled call ends as cancelled, and all other failures pass through unchanged.
///
/// **Secrets**: none. Errors contain only durations.
public struct TimeoutPlugin: Stage.Prepare, Stage.Intercept {
    private let attempt: Duration?
    private let total: Duration?
    private let idle: Duration?

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - attempt: the longest time that one exchange may take.
    ///   - total: the longest time that the whole call may take.
    ///   - idle: the longest time that a body may go without a byte.
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

    /// Sets the attempt and idle timeouts of each exchange.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        if let attempt, !context.isDownload, request.body.bytes != nil { request.attemptTimeout = attempt }
        if let idle { request.idleTimeout = idle }
    }

    /// Cancels the work inside when the time limit of the call has passed.
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
        PipelineError(.timeout(.total), "the call took longer than \(PipelineError.text(of: total))")
    }
}

extension TimeoutPlugin {
    /// Without `total`, the plugin intercepts only calls that set `totalTimeout`.
    ///
    /// Without `attempt` and `idle`, it prepares no requests.
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

    /// `PluginCapability.limitsExchanges`, `PluginCapability.spansCalls` if `total` is set, and capabilities of its
    /// own.
    public var capabilities: Set<PluginCapability> {
        var capabilities: Set<PluginCapability> = []
        if total != nil { capabilities.insert(.spansCalls) }
        if attempt != nil { capabilities.insert(Self.setsAttempt) }
        if idle != nil { capabilities.insert(Self.setsIdle) }
        if attempt != nil || total != nil { capabilities.insert(.limitsExchanges) }
        return capabilities
    }

    /// Finds two plugins that set the same timeout.
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

    /// Finds an attempt timeout of another plugin that is longer than the total timeout of this one.
    public func conflict(with other: any PluginType) -> SettingConflict? {
        guard let total, let attempt = (other as? TimeoutPlugin)?.attempt, attempt > total else { return nil }
        let texts = (attempt: PipelineError.text(of: attempt), total: PipelineError.text(of: total))
        return SettingConflict(
            "attempt-longer-than-total",
            problem: "an attempt may take \(texts.attempt), the whole call only \(texts.total)",
            consequence: "the call ends before a slow attempt can be retried",
            remedy: "set an attempt timeout that is shorter than the total"
        )
    }
}
