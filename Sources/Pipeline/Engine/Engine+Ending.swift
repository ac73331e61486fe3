extension Engine {
    /// Whether a result is already what ``finish(_:_:)`` would make of it.
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

    /// Whatever plugins made of it: a body as the caller reads it, and all exchanges of this call and of no other.
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

    /// Whether ``validate(_:_:)`` has something to do.
    @inline(never)
    func needsEnd(_ result: CallResult, _ context: PipelineContext) -> Bool {
        guard case .success(let response) = result else { return false }
        return context.isDownload || !context.target.validationType.accepts(response.statusCode)
    }

    /// What the status of a response makes of a result.
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

    /// The answer to a download with its file where it was wanted.
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
            // Else the temporary file would live as long as the error does.
            if answer.body.bytes == nil { answer.body = .absent }
            failure.response = answer
            failure.request = response.request
            failure.exchanges = response.exchanges
            return .failure(failure)
        }
    }

    /// The failure of a status that the target does not accept, with its body when that comes soon and is short.
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
            // What has been written to a file is here, and waits for nobody.
            let data =
                body.writtenFile != nil
                ? try? await body.collect(upTo: limit)
                : try? await settings.clock.run(within: timeout) { try await body.collect(upTo: limit) }
            if Task.isCancelled { return .cancelled(before: response.request) }
            response.body = data.map { .bytes($0) } ?? .absent
        }
        let reason = "the status \(response.statusCode) is not one that the target accepts: \(accepted)"
        return PipelineError(.unacceptableStatus, reason, response: response)
    }
}

extension [PipelineExchange] {
    /// Whether two arrays are one in memory; equal ones of two calls are not.
    fileprivate func isSameArray(as other: [PipelineExchange]) -> Bool {
        guard count == other.count else { return false }
        return isEmpty
            || withUnsafeBufferPointer { mine in other.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress } }
    }
}
