import Foundation
import HTTPTypes

/// The transport and those who observe it.
final class Wire: Sendable {
    private let transport: any Transport
    private let willSend: [any Stage.WillSend]
    private let didReceive: [any Stage.DidReceive]

    init(transport: any Transport, willSend: [any Stage.WillSend], didReceive: [any Stage.DidReceive]) {
        self.transport = transport
        self.willSend = willSend
        self.didReceive = didReceive
    }

    /// Whether somebody sees what the transport returns.
    var isObserved: Bool { !didReceive.isEmpty }

    // MARK: An exchange from its request to the end of its body

    /// A hop without exchange plugins, and what has to follow it.
    func exchange(
        _ request: PipelineRequest,
        _ context: PipelineContext,
        isFirst: Bool
    ) async -> (CallResult, FollowUp?) {
        var request = request
        let fileFailure = request.body.isFile ? await measureFile(of: &request) : nil
        if let failure = failure(before: request, context, isFirst: isFirst, fileFailure) {
            return (.failure(failure), nil)
        }
        announce(request, context)
        let (result, followUp) = await send(request, context)
        observe(result, context)
        return (result, followUp)
    }

    /// Inlined, here and below: a function of its own costs each waiting call a frame, and each call copies of what it is given.
    @inline(__always)
    private func send(
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) async -> (result: CallResult, FollowUp?) {
        let start = context.now
        do {
            var received = try await receive(request, context)
            // The head has decided: a slow body must not use up the time of the attempt.
            if received.followUp != nil { await received.response.discardBody(context) }
            end(&received, request, context, from: start)
            return (.success(received.response), received.followUp)
        } catch {
            return (.failure(end(error, request, context, from: start)), nil)
        }
    }

    /// Notes an exchange that has ended in a response.
    @inline(never)
    private func end(
        _ received: inout Received,
        _ request: PipelineRequest,
        _ context: PipelineContext,
        from start: PipelineClock.Instant
    ) {
        var exchange = PipelineExchange(request, context, from: start)
        exchange.refusedRedirect = received.refusal
        exchange.end(context, statusCode: received.response.statusCode)
        received.response.exchanges = context.call.append(exchange)
    }

    /// The response, within the time that an attempt may take.
    @inline(__always)
    private func receive(
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) async throws -> Received {
        guard let timeout = request.attemptTimeout(in: context.options) else {
            return try await receiveUntimed(request, context)
        }
        return try await receive(request, within: timeout, context)
    }

    @inline(never)
    private func receive(
        _ request: PipelineRequest,
        within timeout: Duration,
        _ context: PipelineContext
    ) async throws -> Received {
        var timed = context
        let timer = AttemptTimer(timeout, from: context.now)
        timed.attemptTimer = timer
        return try await context.clock.run(by: timer) { [timed] in try await self.receiveUntimed(request, timed) }
    }

    private func receiveUntimed(
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) async throws -> Received {
        let response = try await receiveHead(request, context)
        var received = inspect(response, to: request, context)
        if received.followUp == nil, context.isDownload || received.response.needsBuffering(context) {
            try await read(&received, context)
        }
        return received
    }

    /// What a response is followed by, as far as its head says.
    @inline(never)
    private func inspect(
        _ response: PipelineResponse,
        to request: PipelineRequest,
        _ context: PipelineContext
    ) -> Received {
        var received = Received(response: response)
        switch context.call.settings.redirects.decision(after: response, to: request) {
        case .noRedirect: break
        case .refuse(let refusal): received.refusal = refusal
        case .follow(let next, let leavesOrigin):
            received.followUp = FollowUp(redirectTo: next, leavesOrigin: leavesOrigin)
        }
        return received
    }

    /// Reads a body into memory, or into the file of a download.
    @inline(never)
    private func read(_ received: inout Received, _ context: PipelineContext) async throws {
        if let download = context.call.download, try await download.take(&received.response, context) {
            received.followUp = FollowUp(downloadFromStart: received.response.request)
        } else if received.response.needsBuffering(context) {
            received.response = try await received.response.buffered(context)
        }
    }
}

// MARK: An exchange whose body exchange plugins get

extension Wire {
    /// Sends a request of a hop with exchange plugins.
    ///
    /// - Returns: the result, and the exchange if its body has not ended.
    func open(_ request: PipelineRequest, _ context: PipelineContext) async -> (CallResult, OpenExchange?) {
        var request = request
        let fileFailure = request.body.isFile ? await measureFile(of: &request) : nil
        if let failure = failure(before: request, context, isFirst: false, fileFailure) {
            return (.failure(failure), nil)
        }
        announce(request, context)
        let start = context.now
        do {
            let timer = request.attemptTimeout(in: context.options).map { AttemptTimer($0, from: start) }
            var context = context
            context.attemptTimer = timer
            let response = try await receiveHead(request, within: timer, context)
            return end(response, request, context, timer, from: start)
        } catch {
            let result = CallResult.failure(end(error, request, context, from: start))
            observe(result, context)
            return (result, nil)
        }
    }

    private func receiveHead(
        _ request: PipelineRequest,
        within timer: AttemptTimer?,
        _ context: PipelineContext
    ) async throws -> PipelineResponse {
        guard let timer else { return try await receiveHead(request, context) }
        return try await context.clock.run(by: timer) { try await self.receiveHead(request, context) }
    }

    /// Notes an exchange whose head has come, and shows it to observers if nothing of its body has to come.
    private func end(
        _ response: PipelineResponse,
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ timer: AttemptTimer?,
        from start: PipelineClock.Instant
    ) -> (CallResult, OpenExchange?) {
        var response = response
        var exchange = PipelineExchange(request, context, from: start)
        exchange.end(context, statusCode: response.statusCode)
        response.exchanges = context.call.append(exchange)
        guard response.body.inMemoryByteCount == nil, !context.isStreaming else {
            observe(.success(response), context)
            return (.success(response), nil)
        }
        if let timer { response.body = response.body.timed(by: timer, on: context.clock) }
        let open = OpenExchange(self, context, response)
        response.body = open.body
        return (.success(response), open)
    }

    /// Shows observers what an exchange came to.
    func observe(_ result: CallResult, _ context: PipelineContext) {
        for observer in didReceive { observer.didReceive(result, context: context) }
    }
}

// MARK: Steps

extension Wire {
    /// What keeps a request from being sent.
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

    /// Notes the length of the file that is to be sent; returns why it cannot be, `nil` if it can.
    @inline(never)
    private func measureFile(of request: inout PipelineRequest) async -> PipelineError? {
        do {
            request.body = try await request.body.measured()
            return nil
        } catch {
            return PipelineError(thrown: error, otherwise: .file(.unreadable), "the file cannot be read")
        }
    }

    /// The failure of a call that has made all the exchanges it may; the first exchange needs no look.
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

    /// The response as the transport hands it over.
    @inline(__always)
    private func receiveHead(_ request: PipelineRequest, _ context: PipelineContext) async throws -> PipelineResponse {
        var response = try await transport.send(request, context: begin(request, context))
        try take(&response, of: request, context)
        return response
    }

    /// The context in which the transport sends a request.
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

    /// Makes the transport's response the core's.
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
        response.request = request
        response.source = .network
        if let failure = context.limits.headerFailure(of: response.headers) { throw failure }
    }

    /// Whether the core has to see each piece of a body to measure the time between them: a transport measures real time.
    private func needsStream(within idle: Duration, _ context: PipelineContext) -> Bool {
        !context.clock.isOfSystem || !transport.enforcesIdleTimeout(idle)
    }

    /// Notes an exchange that has failed.
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
        return failure
    }
}

/// What came of a request.
private struct Received: Sendable {
    var response: PipelineResponse
    var refusal: RedirectPolicy.Refusal?
    var followUp: FollowUp?
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
