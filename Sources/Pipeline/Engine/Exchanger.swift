import Foundation
import HTTPTypes

/// The innermost part of a pipeline: hands requests to the transport and follows redirects, one exchange per hop.
final class Exchanger: Sendable {
    private let transport: any Transport
    private let willSend: [any Stage.WillSend]
    private let didReceive: [any Stage.DidReceive]

    init(transport: any Transport, willSend: [any Stage.WillSend], didReceive: [any Stage.DidReceive]) {
        self.transport = transport
        self.willSend = willSend
        self.didReceive = didReceive
    }

    func run(_ request: consuming PipelineRequest, _ context: PipelineContext) async -> CallResult {
        var context = context
        var isFirst = true
        if context.isDownload { await askForRest(in: &request, context) }
        while true {
            let fileFailure = request.body.isFile ? await measureFile(of: &request) : nil
            if let failure = failure(before: request, context, isFirst, fileFailure) { return .failure(failure) }
            isFirst = false
            announce(request, context)
            let (result, followUp) = await send(request, context)
            if let end = conclude(result, followUp, &request, &context) { return end }
        }
    }

    /// Asks for the rest of a download, from what earlier attempts have kept.
    @inline(never)
    private func askForRest(in request: inout PipelineRequest, _ context: PipelineContext) async {
        await context.call.download?.ask(in: &request, context)
    }

    @inline(never)
    private func announce(_ request: PipelineRequest, _ context: PipelineContext) {
        context.call.onStart?()
        for observer in willSend { observer.willSend(request, context: context) }
    }

    /// What the call comes to after an exchange; `nil` when another follows, whose request it is then.
    @inline(never)
    private func conclude(
        _ result: CallResult,
        _ followUp: FollowUp?,
        _ request: inout PipelineRequest,
        _ context: inout PipelineContext
    ) -> CallResult? {
        for observer in didReceive { observer.didReceive(result, context: context) }
        guard let followUp, case .success(let response) = result else { return result }
        request = followUp.request
        guard followUp.isRedirect else { return nil }
        guard context.hop < context.call.settings.redirects.maximumHopCount else {
            return .failure(RedirectPolicy.tooManyHops(response, leadingTo: request))
        }
        context.hop += 1
        return nil
    }

    /// What keeps a request from being sent.
    @inline(never)
    private func failure(
        before request: PipelineRequest,
        _ context: PipelineContext,
        _ isFirst: Bool,
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
            return PipelineError(thrown: error, otherwise: .file, "the file cannot be read")
        }
    }

    /// The failure of a call that has made all the exchanges it may; the first exchange needs no look.
    private func exchangeFailure(_ context: PipelineContext, _ isFirst: Bool) -> PipelineError? {
        guard context.attempt > 1 || !isFirst else { return nil }
        guard context.exchanges.count >= context.limits.exchangeCount else { return nil }
        return .tooManyExchanges(context)
    }

    /// One exchange, and the one that has to follow it.
    private func send(
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) async -> (result: CallResult, FollowUp?) {
        let start = context.clock.now
        do {
            var received = try await receive(request, context)
            // The head has decided: a slow body must not use up the time of the attempt.
            if received.followUp != nil { await received.response.discardBody(context) }
            return (.success(end(received, request, context, from: start)), received.followUp)
        } catch {
            return (.failure(end(error, request, context, from: start)), nil)
        }
    }

    /// Notes an exchange that has ended in a response.
    @inline(never)
    private func end(
        _ received: Received,
        _ request: PipelineRequest,
        _ context: PipelineContext,
        from start: PipelineClock.Instant
    ) -> PipelineResponse {
        var response = received.response
        var exchange = PipelineExchange(request, context, from: start)
        exchange.refusedRedirect = received.refusal
        exchange.end(context, statusCode: response.statusCode)
        response.exchanges = context.call.append(exchange)
        return response
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

    /// The response, within the time that an attempt may take.
    private func receive(
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) async throws -> Received {
        guard let timeout = request.attemptTimeout(in: context.options) else {
            return try await receiveUntimed(request, context)
        }
        var timed = context
        let timer = AttemptTimer(timeout, from: context.clock.now)
        timed.attemptTimer = timer
        return try await context.clock.run(by: timer) { [timed] in try await self.receiveUntimed(request, timed) }
    }

    private func receiveUntimed(
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) async throws -> Received {
        if let meter = context.call.meter { meter.beginExchange(bodyByteCount: request.body.byteCount) }
        let idle = request.idleTimeout(in: context.options)
        var context = context
        context.isIdleTimed = idle != nil
        let response = try await transport.send(request, context: context)
        context.call.noteHead(of: response)
        context.attemptTimer?.responseIsThere(at: context.clock.now)
        var received = try inspect(response, to: request, idle: idle, context)
        if received.followUp == nil, let download = context.call.download {
            try await take(&received, by: download, context)
        }
        if received.followUp == nil, received.response.needsBuffering(context) {
            received.response = try await received.response.buffered(context)
        }
        return received
    }

    /// What a response is followed by, as far as its head says.
    @inline(never)
    private func inspect(
        _ response: PipelineResponse,
        to request: PipelineRequest,
        idle: Duration?,
        _ context: PipelineContext
    ) throws -> Received {
        var response = response
        if let idle { response.body = response.body.timed(idle: idle, on: context.clock) }
        response.request = request
        if let failure = context.limits.headerFailure(of: response.headers) { throw failure }
        var received = Received(response: response)
        switch context.call.settings.redirects.decision(after: response) {
        case .none: break
        case .refuse(let refusal): received.refusal = refusal
        case .follow(let next): received.followUp = FollowUp(request: next, isRedirect: true)
        }
        return received
    }

    /// Writes the response of a download into its file.
    private func take(_ received: inout Received, by download: Download, _ context: PipelineContext) async throws {
        switch try await download.step(after: received.response, context) {
        case .keepInMemory:
            if received.response.body.bytes == nil { received.response = try await received.response.buffered(context) }
        case .restart(let request):
            received.followUp = FollowUp(request: request, isRedirect: false)
        case .write(let file, let offset, let end):
            let body = received.response.body
            received.response.body = try await download.receive(body, into: file, from: offset, to: end, context)
        }
    }
}

/// What came of a request.
private struct Received: Sendable {
    var response: PipelineResponse
    var refusal: RedirectPolicy.Refusal?
    var followUp: FollowUp?
}

/// The request that has to follow an exchange: a redirect, or a download that begins again.
private struct FollowUp: Sendable {
    let request: PipelineRequest
    let isRedirect: Bool
}

extension PipelineExchange {
    fileprivate init(_ request: PipelineRequest, _ context: PipelineContext, from start: PipelineClock.Instant) {
        self.request = request
        self.attempt = context.attempt
        self.hop = context.hop
        self.start = context.start.duration(to: start)
    }

    fileprivate mutating func end(
        _ context: PipelineContext,
        statusCode: Int? = nil,
        failure: PipelineError.Code? = nil
    ) {
        self.statusCode = statusCode
        self.failure = failure
        duration = context.start.duration(to: context.clock.now) - start
    }
}

extension PipelineResponse {
    /// Whether the body is not yet as the caller reads it: in memory under the limit, unless the call streams.
    func needsBuffering(_ context: PipelineContext) -> Bool {
        guard let byteCount = body.inMemoryByteCount else {
            return !context.isStreaming && context.call.download == nil
        }
        return byteCount > context.limits.bufferedBodyByteCount
    }

    /// Reads the body into memory under the limit.
    func buffered(_ context: PipelineContext) async throws -> PipelineResponse {
        var response = self
        let totalByteCount = body.byteCount
        let data = try await body.collect(upTo: context.limits.bufferedBodyByteCount) { byteCount in
            context.reportReceived(byteCount, of: totalByteCount)
        }
        response.body = .bytes(data)
        return response
    }
}

extension PipelineError {
    static func tooManyExchanges(_ context: PipelineContext) -> PipelineError {
        PipelineError(.limit(.exchanges), "the call has made the \(context.limits.exchangeCount) exchanges allowed")
    }
}
