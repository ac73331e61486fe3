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
        let limit = context.limits.exchangeCount
        guard context.exchanges.count >= limit else { return nil }
        return PipelineError(.limit(.exchanges), "the call has made the \(limit) exchanges allowed")
    }

    /// One exchange, and the request that a redirect leads to.
    private func send(
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) async -> (result: CallResult, redirect: PipelineRequest?) {
        let start = context.clock.now
        var result: CallResult
        var decision = RedirectPolicy.Decision.none
        do {
            var response = try await transport.send(request, context: context)
            response.request = request
            if let failure = context.limits.headerFailure(of: response.headers) { throw failure }
            decision = context.call.settings.redirects.decision(after: response)
            if case .follow = decision {
                response.body = await drain(response.body, upTo: context.limits.discardedBodyByteCount)
            } else if !context.isStreaming, response.body.bytes == nil {
                response.body = .bytes(try await response.body.collect(upTo: context.limits.bufferedBodyByteCount))
            } else if let count = response.body.bytes?.count, count > context.limits.bufferedBodyByteCount {
                _ = try await response.body.collect(upTo: context.limits.bufferedBodyByteCount)
            }
            result = .success(response)
        } catch {
            let failure = PipelineError(
                thrown: error,
                otherwise: .transport,
                "the transport threw \(PipelineError.name(of: error))"
            )
            result = .failure(failure)
        }
        record(&result, request, context, start, decision)
        guard case .follow(let redirect) = decision else { return (result, nil) }
        return (result, redirect)
    }

    /// The body of a redirect is read so that the connection can be used again, but not at any length.
    private func drain(_ body: PipelineBody, upTo limit: Int) async -> PipelineBody {
        guard let data = try? await body.collect(upTo: limit) else { return .none }
        return .bytes(data)
    }

    private func record(
        _ result: inout CallResult,
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ start: PipelineClock.Instant,
        _ decision: RedirectPolicy.Decision
    ) {
        var exchange = PipelineExchange(
            request: request,
            statusCode: nil,
            failure: nil,
            attempt: context.attempt,
            hop: context.hop,
            start: context.start.duration(to: start),
            duration: start.duration(to: context.clock.now),
            refusedRedirect: nil
        )
        switch result {
        case .success(var response):
            exchange.statusCode = response.statusCode
            if case .refuse(let refusal) = decision { exchange.refusedRedirect = refusal }
            response.exchanges = context.call.append(exchange)
            result = .success(response)
        case .failure(var error):
            exchange.failure = error.code
            error.request = request
            error.exchanges = context.call.append(exchange)
            result = .failure(error)
        }
    }
}
