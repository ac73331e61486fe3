import Foundation
import HTTPTypes

/// The innermost part of a pipeline, which sends requests over the wire and follows redirects, hop by hop.
final class Exchanger: Sendable {
    private let plugins: [any Stage.Exchange]
    private let wire: Wire

    init(plugins: [any Stage.Exchange], wire: Wire) {
        self.plugins = plugins
        self.wire = wire
    }

    func run(_ request: consuming PipelineRequest, _ context: PipelineContext) async -> CallResult {
        if context.isDownload { await askForRest(in: &request, context) }
        let (result, followUp) = await exchange(request, context, isFirst: true)
        guard let followUp else { return result }
        return await follow(followUp, after: consume result, context)
    }

    private func exchange(
        _ request: PipelineRequest,
        _ context: PipelineContext,
        isFirst: Bool
    ) async -> (CallResult, FollowUp?) {
        guard plugins.isEmpty else { return await runHop(request, context) }
        let (result, open) = await wire.exchange(request, context, isFirst: isFirst, isInHop: false)
        guard case .success(let response) = result, response.needsEnd(context) else {
            return (result, nil)
        }
        return await end(response, open, request, context)
    }

    /// Returns the result of a hop without exchange plugins whose response is not the end of it.
    @inline(never)
    private func end(
        _ response: PipelineResponse,
        _ open: OpenExchange?,
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) async -> (CallResult, FollowUp?) {
        let (result, followUp) = await response.end(hopOf: request, exchangeCount: 1, context)
        open?.end(with: result)
        return (result.ended(context), followUp)
    }

    /// Returns the result of a call whose first hop has to be followed by another.
    @inline(never)
    private func follow(
        _ first: FollowUp,
        after response: consuming CallResult,
        _ context: PipelineContext
    ) async -> CallResult {
        var (result, followUp): (CallResult, FollowUp?) = (response, first)
        var context = context
        while let next = followUp, case .success(let response) = result {
            if let failure = next.begin(after: response, &context) { return .failure(failure) }
            wire.addIdentity(of: next.request, context)
            (result, followUp) = await exchange(next.request, context, isFirst: false)
        }
        return result
    }

    /// Asks for the rest of a download, after what earlier attempts have kept.
    @inline(never)
    private func askForRest(in request: inout PipelineRequest, _ context: PipelineContext) async {
        await context.call.download?.ask(in: &request, context)
    }

    @inline(never)
    private func runHop(_ request: PipelineRequest, _ context: PipelineContext) async -> (CallResult, FollowUp?) {
        await Hop(plugins: plugins, wire: wire, entry: request, context).run()
    }
}

/// What the policy has decided about a redirect.
final class RedirectDecision: Sendable {
    /// The head that was decided about.
    let head: HTTPResponse
    /// Why the redirect is not followed; `nil` if it is.
    let refusal: RedirectPolicy.Refusal?
    /// What follows; `nil` if nothing does.
    let followUp: FollowUp?

    init(after response: PipelineResponse, to entry: PipelineRequest, _ context: PipelineContext) {
        head = response.head
        switch context.call.settings.redirects.decision(after: response, to: entry) {
        case .noRedirect: (refusal, followUp) = (nil, nil)
        case .refuse(let reason): (refusal, followUp) = (reason, nil)
        case .follow(let next, let leavesOrigin):
            (refusal, followUp) = (nil, FollowUp(redirectTo: next, leavesOrigin: leavesOrigin))
        }
    }
}

/// The request that has to follow a response: a redirect, or a download that starts over.
///
/// A class, because few responses have one, but each waiting call reserves space for it.
final class FollowUp: Sendable {
    let request: PipelineRequest
    private let isRedirect: Bool
    private let leavesOrigin: Bool
    /// The number of exchanges that the hop has made so far.
    private let exchangeCount: Int

    init(redirectTo request: PipelineRequest, leavesOrigin: Bool) {
        self.request = request
        self.leavesOrigin = leavesOrigin
        isRedirect = true
        exchangeCount = 0
    }

    init(downloadFromStart request: PipelineRequest, exchangeCount: Int = 1) {
        self.request = Download.askingForAll(request)
        self.exchangeCount = exchangeCount
        isRedirect = false
        leavesOrigin = false
    }

    /// Changes the context of a hop to that of the next one; returns the failure if there must not be another.
    func begin(after response: PipelineResponse, _ context: inout PipelineContext) -> PipelineError? {
        guard isRedirect else {
            context.exchangeNumber += exchangeCount
            return nil
        }
        guard context.hop < context.call.settings.redirects.maximumHopCount else {
            return RedirectPolicy.tooManyHops(response, leadingTo: request)
        }
        context.beginHop(leavingOrigin: leavesOrigin)
        return nil
    }
}

extension PipelineError {
    /// Returns the error of a body that cannot be read, with the head of its response if it has an error status.
    ///
    /// The head decides whether and when the request is retried.
    func whileReading(_ response: PipelineResponse) -> PipelineError {
        guard response.statusCode >= 400, self.response == nil, code != .cancelled else { return self }
        var (error, head) = (self, response)
        head.body = .absent
        error.response = head
        return error
    }

    static func tooManyExchanges(_ context: PipelineContext) -> PipelineError {
        PipelineError(
            .limit(.exchanges),
            "the call has made \(context.limits.exchangeCount) exchanges, as many as limits.exchangeCount allows"
        )
    }
}
