extension APIOperation {
    /// Is told of a step, and says whether it took it, as it does until the call is cancelled.
    typealias Tell = @Sendable (Double) async -> Bool

    /// Runs it and waits with each step until the one before is told: above 0, each more than the last one, 1 at the end of a success.
    ///
    /// - Returns: the result; code `cancelled` for a success of which nobody could be told any more.
    func run(in client: APIClient, telling tell: Tell) async -> Result<Value, PipelineError> {
        let (steps, continuation) = AsyncStream<Double>.makeStream(bufferingPolicy: .bufferingNewest(1))
        async let performed = {
            defer { continuation.finish() }
            return await run(in: client) { continuation.yield($0) }
        }()
        var last = 0.0
        for await step in steps where step > last && step < 1 {
            last = step
            _ = await tell(step)
        }
        let result = await performed
        guard case .success = result, await !tell(1) else { return result }
        return .failure(PipelineError(.cancelled, "the call was cancelled as it ended"))
    }
}
