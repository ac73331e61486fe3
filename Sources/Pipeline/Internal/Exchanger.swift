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

    func run(_ request: PipelineRequest, _ context: PipelineContext) async -> CallResult {
        var request = request
        var context = context
        while true {
            if Task.isCancelled { return .failure(.cancelled(before: request)) }
            if var failure = exchangeFailure(context)
                ?? RequestValidation.failure(of: request, limits: context.limits)
            {
                failure.request = request
                failure.exchanges = context.exchanges
                return .failure(failure)
            }
            for observer in willSend { observer.willSend(request, context: context) }
            let (result, redirect) = await send(request, context)
            for observer in didReceive { observer.didReceive(result, context: context) }
            guard let redirect, case .success(let response) = result else { return result }
            guard context.hop < context.call.settings.redirects.maximumHopCount else {
                return .failure(RedirectPolicy.tooManyHops(response, leadingTo: redirect))
            }
            request = redirect
            context.hop += 1
        }
    }

    /// The failure of a call that has made all the exchanges it may; the first exchange needs no look.
    private func exchangeFailure(_ context: PipelineContext) -> PipelineError? {
        guard context.attempt > 1 || context.hop > 0 else { return nil }
        guard context.exchanges.count >= context.limits.exchangeCount else { return nil }
        return .tooManyExchanges(context)
    }

    /// One exchange, and the request that a redirect leads to.
    private func send(
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) async -> (result: CallResult, redirect: PipelineRequest?) {
        let start = context.clock.now
        do {
            var (response, decision) = try await receive(request, context)
            var exchange = PipelineExchange(request, context, from: start)
            var redirect: PipelineRequest?
            switch decision {
            case .none: break
            case .refuse(let refusal): exchange.refusedRedirect = refusal
            case .follow(let next): redirect = next
            }
            exchange.end(context, statusCode: response.statusCode)
            response.exchanges = context.call.append(exchange)
            return (.success(response), redirect)
        } catch {
            var failure = PipelineError(
                thrown: error,
                otherwise: .transport,
                "the transport threw \(PipelineError.name(of: error))"
            )
            var exchange = PipelineExchange(request, context, from: start)
            exchange.end(context, failure: failure.code)
            failure.request = request
            failure.exchanges = context.call.append(exchange)
            return (.failure(failure), nil)
        }
    }

    /// The response, within the time that an attempt may take.
    private func receive(
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) async throws -> (PipelineResponse, RedirectPolicy.Decision) {
        guard let timeout = context.options.attemptTimeout else { return try await receiveUntimed(request, context) }
        return try await context.clock.run(within: timeout) { try await self.receiveUntimed(request, context) }
    }

    private func receiveUntimed(
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) async throws -> (PipelineResponse, RedirectPolicy.Decision) {
        var response = try await transport.send(request, context: context)
        response.request = request
        if let failure = context.limits.headerFailure(of: response.headers) { throw failure }
        let decision = context.call.settings.redirects.decision(after: response)
        if case .follow = decision {
            response.body = await drain(response.body, upTo: context.limits.discardedBodyByteCount)
        } else {
            if response.needsBuffering(context) { response = try await response.buffered(context) }
        }
        return (response, decision)
    }

    /// The body of a redirect is read so that the connection can be used again, but not at any length.
    private func drain(_ body: PipelineBody, upTo limit: Int) async -> PipelineBody {
        guard let data = try? await body.collect(upTo: limit) else { return .none }
        return .bytes(data)
    }
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
        guard let byteCount = body.inMemoryByteCount else { return !context.isStreaming }
        return byteCount > context.limits.bufferedBodyByteCount
    }

    /// Reads the body into memory under the limit.
    func buffered(_ context: PipelineContext) async throws -> PipelineResponse {
        var response = self
        response.body = .bytes(try await body.collect(upTo: context.limits.bufferedBodyByteCount))
        return response
    }
}

extension PipelineError {
    static func tooManyExchanges(_ context: PipelineContext) -> PipelineError {
        PipelineError(.limit(.exchanges), "the call has made the \(context.limits.exchangeCount) exchanges allowed")
    }
}
