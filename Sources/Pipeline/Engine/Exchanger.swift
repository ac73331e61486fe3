import Foundation
import HTTPTypes

/// The innermost part of a pipeline: sends requests over the wire and follows redirects, hop by hop.
final class Exchanger: Sendable {
    private let plugins: [any Stage.Exchange]
    private let wire: Wire

    init(plugins: [any Stage.Exchange], wire: Wire) {
        self.plugins = plugins
        self.wire = wire
    }

    func run(_ request: consuming PipelineRequest, _ context: PipelineContext) async -> CallResult {
        var context = context
        var isFirst = true
        if context.isDownload { await askForRest(in: &request, context) }
        while true {
            let (result, followUp): (CallResult, FollowUp?)
            if plugins.isEmpty {
                (result, followUp) = await wire.exchange(request, context, isFirst: isFirst)
            } else {
                (result, followUp) = await runHop(request, context)
            }
            isFirst = false
            if let end = conclude(result, followUp, &request, &context) { return end }
        }
    }

    /// Asks for the rest of a download, from what earlier attempts have kept.
    @inline(never)
    private func askForRest(in request: inout PipelineRequest, _ context: PipelineContext) async {
        await context.call.download?.ask(in: &request, context)
    }

    @inline(never)
    private func runHop(_ request: PipelineRequest, _ context: PipelineContext) async -> (CallResult, FollowUp?) {
        await Hop(plugins: plugins, wire: wire, entry: request, context).run()
    }

    /// What the call comes to after a hop; `nil` when another follows, whose request it is then.
    @inline(never)
    private func conclude(
        _ result: CallResult,
        _ followUp: FollowUp?,
        _ request: inout PipelineRequest,
        _ context: inout PipelineContext
    ) -> CallResult? {
        guard let followUp, case .success(let response) = result else { return result }
        request = followUp.request
        guard followUp.isRedirect else {
            context.exchangeNumber += followUp.exchangeCount
            return nil
        }
        guard context.hop < context.call.settings.redirects.maximumHopCount else {
            return .failure(RedirectPolicy.tooManyHops(response, leadingTo: request))
        }
        context.hop += 1
        context.exchangeNumber = 0
        if followUp.leavesOrigin { context.hasLeftOrigin = true }
        return nil
    }
}

/// The request that has to follow a response: a redirect, or a download that begins again.
struct FollowUp: Sendable {
    let request: PipelineRequest
    let isRedirect: Bool
    var leavesOrigin = false
    /// How many exchanges the hop has made so far.
    var exchangeCount = 1
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
