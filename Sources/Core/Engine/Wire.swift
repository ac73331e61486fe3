import Foundation
import HTTPTypes

/// The transport and the plugins that observe it.
final class Wire: Sendable {
    private let transport: any Transport
    private let willSend: [any Stage.WillSend]
    private let didReceive: [any Stage.DidReceive]

    init(transport: any Transport, willSend: [any Stage.WillSend], didReceive: [any Stage.DidReceive]) {
        self.transport = transport
        self.willSend = willSend
        self.didReceive = didReceive
    }

    /// Adds the identity on whose behalf the transport sends a request.
    func addIdentity(of request: PipelineRequest, _ context: PipelineContext) {
        if let identity = transport.identity(for: request) { context.addIdentity(identity) }
    }

    /// Whether a plugin observes what the transport returns.
    var isObserved: Bool { !didReceive.isEmpty }

    // MARK: An exchange

    /// Makes an exchange, up to the header fields of its response.
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - context: the context of the hop.
    ///   - isFirst: whether it is the first exchange of its pass.
    ///   - isInHop: whether exchange plugins get the response, which may read its body in part, or never.
    /// - Returns: the result, and the exchange if its body has not ended.
    func exchange(
        _ request: PipelineRequest,
        _ context: PipelineContext,
        isFirst: Bool,
        isInHop: Bool
    ) async -> (CallResult, OpenExchange?) {
        var request = request
        let fileFailure = request.body.isFile ? await measureFile(of: &request) : nil
        if let failure = failure(before: request, context, isFirst: isFirst, fileFailure) {
            return (.failure(failure), nil)
        }
        announce(request, context)
        let start = context.now
        let timer = request.attemptTimeout(in: context.options).map { AttemptTimer($0, from: start) }
        do {
            var response = try await receiveHead(request, within: timer, context)
            let open = end(&response, request, context, timer, from: start, isInHop: isInHop)
            return (.success(response), open)
        } catch {
            return (.failure(end(error, request, context, from: start)), nil)
        }
    }

    @inline(__always)
    private func receiveHead(
        _ request: PipelineRequest,
        within timer: AttemptTimer?,
        _ context: PipelineContext
    ) async throws -> PipelineResponse {
        guard let timer else { return try await receiveHead(request, context) }
        return try await receiveTimedHead(request, timer, context)
    }

    @inline(never)
    private func receiveTimedHead(
        _ request: PipelineRequest,
        _ timer: AttemptTimer,
        _ context: PipelineContext
    ) async throws -> PipelineResponse {
        var context = context
        context.attemptTimer = timer
        return try await context.clock.run(by: timer) { [context] in try await self.receiveHead(request, context) }
    }

    /// Records an exchange whose head has arrived, and shows it to observers if no part of the body is still to come.
    @inline(never)
    private func end(
        _ response: inout PipelineResponse,
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ timer: AttemptTimer?,
        from start: PipelineClock.Instant,
        isInHop: Bool
    ) -> OpenExchange? {
        var exchange = PipelineExchange(request, context, from: start)
        exchange.end(context, statusCode: response.statusCode)
        if RedirectPolicy.isRedirect(response.statusCode) {
            let decision = RedirectDecision(after: response, to: context.hopEntry ?? request, context)
            exchange.refusedRedirect = decision.refusal
            response.redirectDecision = decision
        }
        response.exchanges = context.call.append(exchange)
        guard response.body.inMemoryByteCount == nil, !context.isStreaming else {
            observe(.success(response), context)
            return nil
        }
        if let timer { response.body = response.body.timed(by: timer, on: context.clock) }
        let open = OpenExchange(self, context, response)
        if isInHop {
            response.body = open.body
            response.openExchange = open
        }
        return open
    }

    /// Shows the result of an exchange to observers.
    func observe(_ result: CallResult, _ context: PipelineContext) {
        for observer in didReceive { observer.didReceive(result, context: context) }
    }
}

// MARK: Steps

extension Wire {
    /// Returns the reason why a request cannot be sent; `nil` if it can.
    @inline(never)
    private func failure(
        before request: PipelineRequest,
        _ context: PipelineContext,
        isFirst: Bool,
        _ fileFailure: PipelineError?
    ) -> PipelineError? {
        if Task.isCancelled { return .cancelled(before: request) }
        guard
            var failure = exchangeFailure(context, isFirst)
                ?? RequestValidation.failure(of: request, limits: context.limits) ?? fileFailure
        else { return nil }
        failure.request = request
        failure.exchanges = context.exchanges
        return failure
    }

    /// Records the length of the file to send; returns the failure if it cannot be read.
    @inline(never)
    private func measureFile(of request: inout PipelineRequest) async -> PipelineError? {
        do {
            request.body = try await request.body.measured()
            return nil
        } catch {
            return PipelineError(thrown: error, otherwise: .file(.unreadable), "the file cannot be read")
        }
    }

    /// Returns the failure of a call that has made all exchanges it may.
    ///
    /// The first exchange needs no check.
    private func exchangeFailure(_ context: PipelineContext, _ isFirst: Bool) -> PipelineError? {
        guard context.attempt > 1 || !isFirst else { return nil }
        guard context.exchanges.count >= context.limits.exchangeCount else { return nil }
        return .tooManyExchanges(context)
    }

    @inline(never)
    private func announce(_ request: PipelineRequest, _ context: PipelineContext) {
        context.call.onStart?()
        for observer in willSend { observer.willSend(request, context: context) }
    }

    /// Returns the response of the transport, completed for the core.
    @inline(__always)
    private func receiveHead(_ request: PipelineRequest, _ context: PipelineContext) async throws -> PipelineResponse {
        var response = try await transport.send(request, context: begin(request, context))
        try take(&response, of: request, context)
        return response
    }

    /// Returns the context in which the transport sends a request.
    @inline(never)
    private func begin(_ request: PipelineRequest, _ context: PipelineContext) -> PipelineContext {
        let call = context.call
        call.meter?.beginExchange(bodyByteCount: request.body.byteCount, isUpload: call.isUpload)
        var context = context
        if let idle = request.idleTimeout(in: context.options), needsStream(within: idle, context) {
            context.isIdleTimed = true
        }
        return context
    }

    /// Sets the request, the source and the idle timeout of the transport's response, and checks its header fields.
    @inline(never)
    private func take(
        _ response: inout PipelineResponse,
        of request: PipelineRequest,
        _ context: PipelineContext
    ) throws(PipelineError) {
        context.call.noteHead(of: response)
        context.attemptTimer?.responseIsThere(at: context.now)
        if let idle = request.idleTimeout(in: context.options) {
            response.body = response.body.timed(idle: idle, on: context.clock)
        }
        let sentFields = response.request.headers
        if sentFields != request.headers { context.call.noteSentFields(sentFields, of: context.exchangeID) }
        response.request = request
        response.source = .network
        response.exchangeID = context.exchangeID
        if let failure = context.limits.headerFailure(of: response.headers) { throw failure }
        let limit = context.limits.bufferedBodyByteCount
        if let byteCount = response.body.inMemoryByteCount, byteCount > limit, context.call.download == nil {
            throw PipelineBody.tooLarge(limit).whileReading(response)
        }
    }

    /// Returns whether the core must see each piece of a body to measure the time in between, because a transport
    /// measures real time.
    private func needsStream(within idle: Duration, _ context: PipelineContext) -> Bool {
        !context.clock.isOfSystem || !transport.enforcesIdleTimeout(idle)
    }

    /// Records an exchange that has failed, and shows it to observers.
    @inline(never)
    private func end(
        _ error: any Error,
        _ request: PipelineRequest,
        _ context: PipelineContext,
        from start: PipelineClock.Instant
    ) -> PipelineError {
        var failure = PipelineError(
            thrown: error,
            otherwise: .transport,
            "the transport threw \(PipelineError.name(of: error))"
        )
        var exchange = PipelineExchange(request, context, from: start)
        exchange.end(context, failure: failure.code)
        failure.request = request
        failure.exchanges = context.call.append(exchange)
        observe(.failure(failure), context)
        return failure
    }
}

extension PipelineExchange {
    fileprivate init(_ request: PipelineRequest, _ context: PipelineContext, from start: PipelineClock.Instant) {
        self.id = context.exchangeID
        self.request = request
        self.start = context.start.duration(to: start)
    }

    fileprivate mutating func end(
        _ context: PipelineContext,
        statusCode: Int? = nil,
        failure: PipelineError.Code? = nil
    ) {
        self.statusCode = statusCode
        self.failure = failure
        duration = context.start.duration(to: context.now) - start
    }
}
