import Foundation

extension CallResult {
    /// Returns the result of a hop that has ended, with all exchanges of the call.
    func ended(_ context: PipelineContext) -> CallResult {
        switch self {
        case .success(var response):
            response.openExchange = nil
            response.exchanges = context.exchanges
            return .success(response)
        case .failure(var failure):
            failure.exchanges = context.exchanges
            return .failure(failure)
        }
    }
}

// How a hop ends.
extension PipelineResponse {
    /// Returns whether ``end(hopOf:exchangeCount:_:)`` has something to do.
    @inline(never)
    func needsEnd(_ context: PipelineContext) -> Bool {
        context.call.download != nil || needsBuffering(context) || RedirectPolicy.isRedirect(statusCode)
    }

    /// Reads the response of a hop as far as the call needs it.
    ///
    /// - Parameters:
    ///   - entry: the request that entered the hop.
    ///   - exchangeCount: the number of exchanges that the hop has made.
    ///   - context: the context of the call.
    /// - Returns: the result of the hop, and the request that has to follow it.
    func end(
        hopOf entry: PipelineRequest,
        exchangeCount: Int,
        _ context: PipelineContext
    ) async -> (CallResult, FollowUp?) {
        var response = self
        if let followUp = redirect(of: entry, context) {
            // The head has decided that the body is not needed.
            await response.discardBody(context)
            return (.success(response), followUp)
        }
        do {
            if let download = context.call.download, try await download.take(&response, context) {
                await response.discardBody(context)
                return (.success(response), FollowUp(downloadFromStart: entry, exchangeCount: exchangeCount))
            }
            if response.needsBuffering(context) { response = try await response.buffered(context) }
            return (.success(response), nil)
        } catch {
            var failure = PipelineError(thrown: error, otherwise: .transport, "the body could not be read")
                .whileReading(response)
            if failure.request == nil { failure.request = response.request }
            return (.failure(failure), nil)
        }
    }

    /// Returns the redirect that has to be followed; `nil` if there is none.
    private func redirect(of entry: PipelineRequest, _ context: PipelineContext) -> FollowUp? {
        guard RedirectPolicy.isRedirect(statusCode) else { return nil }
        if let redirectDecision, redirectDecision.head == head { return redirectDecision.followUp }
        // A plugin has made or changed the response.
        return RedirectDecision(after: self, to: entry, context).followUp
    }

    /// Returns whether the body still has to be read into memory, or exceeds the limit there.
    ///
    /// A streamed body or a download is left alone.
    func needsBuffering(_ context: PipelineContext) -> Bool {
        guard let byteCount = body.inMemoryByteCount else {
            return !context.isStreaming && context.call.download == nil
        }
        return byteCount > context.limits.bufferedBodyByteCount
    }

    /// Returns the response with its body in memory, up to the limit.
    @inline(never)
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
