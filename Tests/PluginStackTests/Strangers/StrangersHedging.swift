import Pipeline

/// A plugin of another package that sends one copy of a slow request.
///
/// It imports PipelinePlugins for the budget, which it shares with the plugin that retries.
struct StrangersHedging: Stage.Intercept, Stage.WillSend, RetryBudget.Using {
    let budget: RetryBudget
    private let delay: Duration

    init(after delay: Duration, budget: RetryBudget) {
        self.delay = delay
        self.budget = budget
    }

    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        guard [.get, .head].contains(request.method), !context.wantsStream, request.body.isReplayable,
            !request.headers.contains(.ifNoneMatch), !request.headers.contains(.range)
        else { return try await next(request) }
        let signal = Stage.SentSignal()
        context.sentSignal = signal
        let winner = await winner(of: request, context, next, signal)
        // The loser has changed this value of the call, too.
        context.share(winner.shared)
        return try winner.result.get()
    }

    func willSend(_ request: PipelineRequest, context: PipelineContext) { context.sentSignal?.note() }

    /// How a copy ended.
    private struct Ending: Sendable {
        let result: Result<PipelineResponse, any Error>
        let shared: Stage.SharedOutcome?
        let isUsable: Bool
    }

    private func winner(
        of request: PipelineRequest,
        _ context: PipelineContext,
        _ next: Stage.Next,
        _ signal: Stage.SentSignal
    ) async -> Ending {
        await withTaskGroup(of: Ending?.self) { group in
            group.addTask { await Self.ending(of: request, isCopy: false, context, next) }
            group.addTask {
                await wait(for: signal, context)
                return nil
            }
            defer { group.cancelAll() }
            var count = 1
            var best: Ending?
            while let event = await group.next() {
                if let ending = event {
                    count -= 1
                    if ending.isUsable { return ending }
                    best = best ?? ending
                    if let best, count == 0 { return best }
                } else if mayCopy(request, context) {
                    context.annotate("hedged", by: self, duration: delay)
                    count += 1
                    group.addTask { await Self.ending(of: request, isCopy: true, context, next) }
                }
            }
            return best ?? Ending(result: .failure(CancellationError()), shared: nil, isUsable: false)
        }
    }

    /// Waits until the delay has passed without a break since the request was sent.
    private func wait(for signal: Stage.SentSignal, _ context: PipelineContext) async {
        while !Task.isCancelled {
            try? await context.clock.sleep(for: delay)
            if signal.isSent { return }
            await signal.wait()
        }
    }

    private func mayCopy(_ request: PipelineRequest, _ context: PipelineContext) -> Bool {
        let hasTime = context.latestDeadline.map { context.clock.now < $0 } ?? true
        return !Task.isCancelled && hasTime && context.exchanges.count + 1 < context.limits.exchangeCount
            && budget.takeRetry(to: request.host ?? "", at: context.clock.date)
    }

    private static func ending(
        of request: PipelineRequest,
        isCopy: Bool,
        _ context: PipelineContext,
        _ next: Stage.Next
    ) async -> Ending {
        do {
            let response = try await next(request)
            let status = response.statusCode
            let isUsable = response.source == .cache || (status < 500 && !(isCopy && status >= 400))
            return Ending(result: .success(response), shared: context.sharedOutcome, isUsable: isUsable)
        } catch {
            return Ending(result: .failure(error), shared: context.sharedOutcome, isUsable: false)
        }
    }
}
