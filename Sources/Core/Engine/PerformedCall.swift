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

    /// Whether the last response or failure came from a recording, so that no wait is needed.
    var isReplayed: Bool { PipelineContext(call: call).isReplayed }

    /// The response, or that of the failure.
    var response: PipelineResponse? {
        switch result {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }

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
