import Pipeline

/// A plugin that sends each upstream the time that is left for the call, in milliseconds.
struct DeadlinePlugin: Stage.Exchange {
    static let fieldName = "X-Timeout-Ms"

    func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        guard let deadline = context.deadline else { return try await send(request) }
        var request = request
        let rest = context.clock.now.duration(to: deadline)
        try request.setHeader("\(max(1, Int(rest / .milliseconds(1))))", for: Self.fieldName)
        return try await send(request)
    }

    /// Returns the time that the caller of the gateway will wait; `nil` if it does not say so.
    static func timeout(in fields: HTTPFields) -> Duration? {
        guard let name = HTTPField.Name(fieldName), let text = fields[name], let count = Int(text), count > 0 else {
            return nil
        }
        return .milliseconds(count)
    }
}
