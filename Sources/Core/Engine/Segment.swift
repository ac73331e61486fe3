/// A part of the stack: the prepare and process stages that follow one interceptor, up to and including the next
/// interceptor.
///
/// Interceptors split the stack into segments, each of which leads to the one inside it. The innermost segment has no
/// interceptor and leads to the exchanges.
final class Segment: Sendable {
    private let prepares: [StageStep<any Stage.Prepare>]
    /// The process stages, innermost first, in the order in which they run.
    private let processes: [StageStep<any Stage.Process>]
    private let hasStages: Bool
    private let interceptor: Interceptor?
    private let exchanger: Exchanger

    init(
        prepares: [StageStep<any Stage.Prepare>],
        processes: [StageStep<any Stage.Process>],
        interceptor: Interceptor?,
        exchanger: Exchanger
    ) {
        self.prepares = prepares
        self.processes = processes
        hasStages = !prepares.isEmpty || !processes.isEmpty
        self.interceptor = interceptor
        self.exchanger = exchanger
    }

    /// Runs the segment and everything inside it.
    ///
    /// The request is consumed: if the caller does not keep it, a stage can change it without a copy.
    @inline(__always)
    func run(_ request: consuming PipelineRequest, _ context: PipelineContext) async -> CallResult {
        if Task.isCancelled { return .failure(.cancelled(before: request)) }
        return hasStages ? await runStages(request, context) : await runInside(request, context)
    }

    @inline(never)
    private func runStages(_ request: consuming PipelineRequest, _ context: PipelineContext) async -> CallResult {
        var result: CallResult
        var reached = Int.max
        if let (failure, position) = await prepare(&request, context) {
            result = .failure(failure)
            reached = position
        } else {
            result = await runInside(request, context)
        }
        await process(&result, outside: reached, context)
        return result
    }

    @inline(__always)
    private func runInside(_ request: consuming PipelineRequest, _ context: PipelineContext) async -> CallResult {
        if let interceptor {
            if interceptor.step.isIdle(in: context) { return await pass(interceptor, request, context) }
            return await interceptor.run(request, context)
        }
        return await exchanger.run(request, context)
    }

    /// Continues inside an interceptor that does nothing for the call.
    @inline(never)
    private func pass(
        _ interceptor: Interceptor,
        _ request: consuming PipelineRequest,
        _ context: PipelineContext
    ) async -> CallResult {
        await interceptor.inside.run(request, context)
    }

    /// Runs every process stage for the failure of a call that never became a request.
    func processAll(_ result: inout CallResult, _ context: PipelineContext) async {
        if let interceptor { await interceptor.inside.processAll(&result, context) }
        await process(&result, outside: .max, context)
    }

    /// Prepares the request; returns a failure and the position from which no plugin has prepared it.
    private func prepare(
        _ request: inout PipelineRequest,
        _ context: PipelineContext
    ) async -> (PipelineError, position: Int)? {
        for step in prepares where !step.isIdle(in: context) {
            do {
                try await step.plugin.prepare(&request, context: context)
            } catch {
                return (PipelineError(thrown: error, by: step.plugin, in: .prepare, request, context), step.position)
            }
            if Task.isCancelled { return (.cancelled(before: request), step.position + 1) }
        }
        return nil
    }

    private func process(_ result: inout CallResult, outside position: Int, _ context: PipelineContext) async {
        for step in processes where step.position < position && !step.isIdle(in: context) {
            await step.plugin.process(&result, context: context)
        }
    }
}

/// The result of a call, as plugins see it.
typealias CallResult = Result<PipelineResponse, PipelineError>

extension CallResult {
    /// Returns the result for a plugin outside, which is not the source of the failure.
    @inline(never)
    func getPassedOn() throws -> PipelineResponse {
        switch self {
        case .success(let response): return response
        case .failure(var error):
            error.isAttributed = true
            throw error.asThrown
        }
    }
}

extension PipelineError {
    @inline(never)
    static func cancelled(before request: PipelineRequest) -> PipelineError {
        var error = PipelineError(.cancelled, "the call was cancelled")
        error.request = request
        return error
    }
}
