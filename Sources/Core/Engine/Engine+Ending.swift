extension Engine {
    /// Returns whether ``finish(_:_:)`` would leave a result unchanged.
    @inline(never)
    func isFinished(_ result: CallResult, _ context: PipelineContext) -> Bool {
        let exchanges = context.exchanges
        switch result {
        case .success(let response):
            return response.exchanges.isSameArray(as: exchanges) && !response.needsBuffering(context)
                && !response.body.isUnmeasured
        case .failure(let error): return error.exchanges.isSameArray(as: exchanges)
        }
    }

    /// Returns a result of the plugins with the body as the caller reads it, and with exactly the exchanges of this
    /// call.
    @inline(never)
    func finish(_ result: CallResult, _ context: PipelineContext) async -> CallResult {
        let exchanges = context.exchanges
        switch result {
        case .success(let response):
            var response = response
            response.exchanges = exchanges
            do {
                if response.body.isUnmeasured, let body = try? await response.body.measured() { response.body = body }
                if response.needsBuffering(context) { response = try await response.buffered(context) }
                return .success(response)
            } catch {
                var failure = PipelineError(thrown: error, otherwise: .transport, "the body could not be read")
                failure.request = response.request
                failure.exchanges = exchanges
                return .failure(failure)
            }
        case .failure(var error):
            error.exchanges = exchanges
            return .failure(error)
        }
    }

    /// Returns whether ``validate(_:_:)`` has something to do.
    @inline(never)
    func needsEnd(_ result: CallResult, _ context: PipelineContext) -> Bool {
        guard case .success(let response) = result else { return false }
        return context.isDownload || !context.target.validationType.accepts(response.statusCode)
    }

    /// Validates the status of a response, and puts the file of a download in its place.
    @inline(never)
    func validate(_ result: CallResult, _ context: PipelineContext) async -> CallResult {
        guard case .success(let response) = result else { return result }
        let accepted = context.target.validationType
        guard accepted.accepts(response.statusCode) else {
            return .failure(await failure(of: response, context.options, accepted))
        }
        guard let download = context.call.download else { return result }
        return await place(response, download, context)
    }

    /// Returns the response of a download with its file at the destination.
    private func place(
        _ response: PipelineResponse,
        _ download: Download,
        _ context: PipelineContext
    ) async -> CallResult {
        do {
            return .success(try await download.place(response, context))
        } catch {
            var failure = PipelineError(
                thrown: error,
                otherwise: .file(.notWritable),
                "the file could not be put in its place"
            )
            var answer = response
            // Otherwise, the temporary file would live as long as the error.
            if answer.body.bytes == nil { answer.body = .absent }
            failure.response = answer
            failure.request = response.request
            failure.exchanges = response.exchanges
            return .failure(failure)
        }
    }

    /// Returns the failure of a status that the target does not accept, with its body if that arrives soon and is
    /// short.
    func failure(
        of response: PipelineResponse,
        _ options: RequestOptions,
        _ accepted: ValidationType
    ) async -> PipelineError {
        var response = response
        if response.body.bytes == nil {
            let body = response.body
            let limit = settings.limits.discardedBodyByteCount
            let timeout = response.request.attemptTimeout(in: options) ?? .seconds(10)
            // A body that was written to a file is already complete and needs no timeout.
            let data =
                body.writtenFile != nil
                ? try? await body.collect(upTo: limit)
                : try? await settings.clock.run(within: timeout) { try await body.collect(upTo: limit) }
            if Task.isCancelled { return .cancelled(before: response.request) }
            response.body = data.map { .bytes($0) } ?? .absent
        }
        let reason = "got \(response.statusCode), expected \(accepted)"
        return PipelineError(.unacceptableStatus, reason, response: response)
    }
}

extension [PipelineExchange] {
    /// Returns whether two arrays share their memory, which equal arrays of two calls do not.
    fileprivate func isSameArray(as other: [PipelineExchange]) -> Bool {
        guard count == other.count else { return false }
        return isEmpty
            || withUnsafeBufferPointer { mine in other.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress } }
    }
}
