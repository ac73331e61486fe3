// How a call ends, from top to bottom: its body is read and its exchanges are counted, its status is validated and its
// file placed, its error is described, its value is decoded, and its plugins learn the outcome.

extension Engine {
    // MARK: The body and the exchanges

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

    // MARK: The status and the file

    /// Returns whether ``validate(_:_:)`` has something to do.
    @inline(never)
    func needsEnd(_ result: CallResult, _ context: PipelineContext) -> Bool {
        guard case .success(let response) = result else { return false }
        return context.isDownload || !context.validationType.accepts(response.statusCode)
    }

    /// Validates the status of a response, and puts the file of a download in its place.
    @inline(never)
    func validate(_ result: CallResult, _ context: PipelineContext) async -> CallResult {
        guard case .success(let response) = result else { return result }
        let accepted = context.validationType
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

/// A call that has a validated response or has failed, but has not ended: its response may still be decoded or read.
///
/// Each call is ended exactly once, by one of the methods here. They show its outcome to the plugins.
package struct PerformedCall: Sendable {
    let result: CallResult
    private let call: CallState
    private let isSeen: Bool

    /// Makes a call that has a result.
    ///
    /// - Parameters:
    ///   - result: the result of the call.
    ///   - call: the state of the call.
    ///   - isSeen: whether plugins see how the call ends.
    init(_ result: CallResult, of call: CallState, isSeen: Bool = true) {
        self.result = result
        self.call = call
        self.isSeen = isSeen
    }

    /// The call; `nil` if neither a plugin nor a timeline records how it ends.
    private var observed: CallState? { isSeen && (call.isObserved || call.timeline != nil) ? call : nil }

    /// The options of the provider, the target and the call.
    var options: RequestOptions { call.options }

    /// Whether the last response or failure came from a recording, so that no wait is needed.
    var isReplayed: Bool { PipelineContext(call: call).isReplayed }

    /// The response, or that of the failure.
    var response: PipelineResponse? {
        switch result {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }

    // MARK: The description

    /// Returns the same call; a failure has the text that the options of the call provide for it.
    ///
    /// The result has the timeline of the call.
    func described() -> PerformedCall {
        switch result {
        case .success(var response):
            guard let timeline = call.shownTimeline else { return self }
            response.timeline = timeline
            return PerformedCall(.success(response), of: call, isSeen: isSeen)
        case .failure(let error):
            return PerformedCall(.failure(error.described(by: call)), of: call, isSeen: isSeen)
        }
    }

    // MARK: The value and the outcome

    /// Ends the call with its result.
    func finished() -> CallResult {
        finish(result)
        return result
    }

    /// Ends the call with a result that differs from its own.
    func finish(_ result: CallResult) {
        defer { call.leave() }
        guard let observed else { return }
        switch result {
        case .success(let response): observed.finish(nil, response)
        case .failure(let error): observed.finish(error, error.response ?? self.response)
        }
    }

    /// Makes a value from the response and ends the call.
    ///
    /// A failure to do so has the text that the options of the call provide for it.
    package func decoded<Value>(
        _ makeValue: (PipelineResponse) throws -> Value
    ) -> Result<Value, PipelineError> {
        switch result {
        case .success(let response):
            let span = call.timeline?.begin(.decode, .type(Value.self), PipelineContext(call: call))
            do {
                let value = try makeValue(response)
                call.timeline?.end(span)
                finish(result)
                return .success(value)
            } catch {
                call.timeline?.end(span, TimelineRecorder.outcome(of: error))
                let error = PipelineError(thrown: error, otherwise: .mapping(.object), "the body did not decode")
                    .described(by: call)
                finish(.failure(error))
                return .failure(error)
            }
        case .failure(let error):
            finish(result)
            return .failure(error)
        }
    }

    /// Returns the result of a call that is read as a stream, which ends when the body of its response ends.
    func streamed() -> CallResult {
        guard call.parentID == nil || observed != nil, case .success(var response) = result,
            response.body.bytes == nil, response.body.fileURL == nil
        else { return finished() }
        response.body = response.body.ending(call, response)
        return .success(response)
    }
}
