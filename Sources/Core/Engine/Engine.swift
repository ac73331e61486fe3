/// Performs the calls of a provider, regardless of their targets.
///
/// Errors are values in here; the provider throws them.
///
/// **Frames**: each value that an async function uses takes up space in every call that waits inside it. In this
/// folder, a function that only decides or records is therefore not inlined, and one that only passes a call on is. If
/// nothing here were `@inline(never)`, these frames would grow (in bytes, Swift 6.3, x86-64): `run` from 416 to 2,096,
/// `Stage.Next.callAsFunction` from 352 to 1,504, and `Exchanger.follow` from 992 to 2,800.
final class Engine: Sendable {
    let pipeline: CompiledPipeline
    let settings: CallSettings
    let optionCheck: OptionCheck

    init(_ pipeline: CompiledPipeline, _ settings: CallSettings, _ optionCheck: OptionCheck) {
        self.pipeline = pipeline
        self.settings = settings
        self.optionCheck = optionCheck
    }

    /// Performs a call up to its validated response; the caller ends the call.
    ///
    /// - Parameters:
    ///   - call: the call to perform.
    ///   - failure: the failure of making the endpoint, if it could not be made.
    ///   - amend: what the kind of call adds to the request before any plugin sees it.
    /// - Returns: the call with its result.
    func perform(_ call: CallState, _ failure: PipelineError?, _ amend: RequestAmendment?) async -> PerformedCall {
        let depth = pipeline.plugins.isEmpty ? 0 : CallDepth.current
        if let refusal = refusal(of: call, depth) { return refusal.described() }
        let result: CallResult
        if pipeline.plugins.isEmpty {
            result = await run(call, failure, amend)
        } else {
            result = await CallDepth.$current.withValue(depth + 1) { await run(call, failure, amend) }
        }
        if let lane = call.download?.lane { await lane.settle() }
        return PerformedCall(result, of: call).described()
    }

    /// Returns the result of a call that must not begin; `nil` if it may begin.
    @inline(never)
    private func refusal(of call: CallState, _ depth: Int) -> PerformedCall? {
        if Task.isCancelled {
            call.noteUnbegun()
            let error = PipelineError(.cancelled, "the call was cancelled before it began")
            return PerformedCall(.failure(error), of: call)
        }
        guard !pipeline.plugins.isEmpty, depth >= settings.limits.nestedCallCount else { return nil }
        call.noteUnbegun()
        let error = PipelineError(
            .limit(.nestedCalls),
            "plugins made calls inside calls, \(depth) deep; see limits.nestedCallCount"
        )
        // No plugin sees deeper calls. Otherwise, a plugin that makes a call for each one that has ended would never
        // stop.
        return PerformedCall(.failure(error), of: call, isSeen: depth == settings.limits.nestedCallCount)
    }

    private func run(_ call: CallState, _ failure: PipelineError?, _ amend: RequestAmendment?) async -> CallResult {
        let context = PipelineContext(call: call)
        var result: CallResult
        let encoding = call.timeline?.begin(.encode, .type(type(of: call.target)), context)
        let request = makeRequest(context, failure, amend)
        call.timeline?.end(encoding)
        switch request {
        case .success(let request) where request.body.isUnmeasured: result = await runMeasuring(request, context)
        case .success(let request):
            result = await pipeline.outermost.run(request, context)
            if !isFinished(result, context) { result = await finish(result, context) }
        case .failure(let error): result = await fail(error, context)
        }
        if needsEnd(result, context) { result = await validate(result, context) }
        return result.decoding(with: settings.coders)
    }

    /// Makes the request, before any plugin sees it.
    @inline(never)
    private func makeRequest(
        _ context: PipelineContext,
        _ failure: PipelineError?,
        _ amend: RequestAmendment?
    ) -> Result<PipelineRequest, any Error> {
        Result {
            try optionCheck.check(context.options)
            if let failure { throw failure }
            var request = try context.call.endpoint.makeRequest(
                random: settings.random,
                coders: settings.coders?.coders,
                files: .deferred
            )
            try amend?(&request)
            try context.call.download?.prepare(&request, context)
            if let identity = pipeline.transport.identity(for: request) { context.addIdentity(identity) }
            return request
        }
    }

    /// Returns the result of a request with files, which are measured before any plugin sees it.
    @inline(never)
    private func runMeasuring(_ request: PipelineRequest, _ context: PipelineContext) async -> CallResult {
        var request = request
        do {
            request.body = try await request.body.measured()
        } catch {
            return await fail(error, context)
        }
        return await finish(await pipeline.outermost.run(request, context), context)
    }

    /// Returns the result of a call without a request, which the process stages see.
    @inline(never)
    private func fail(_ error: any Error, _ context: PipelineContext) async -> CallResult {
        context.call.noteUnbegun()
        var failure = PipelineError(
            thrown: error,
            otherwise: .encoding,
            "the endpoint closure threw \(PipelineError.name(of: error))"
        )
        if failure.request == nil { failure.request = context.call.endpoint.emptyRequest }
        var result = CallResult.failure(failure)
        await pipeline.outermost.processAll(&result, context)
        return result
    }
}

/// A closure that adds to a request what its kind of call requires, before any plugin sees it.
package typealias RequestAmendment = @Sendable (inout PipelineRequest) throws -> Void
