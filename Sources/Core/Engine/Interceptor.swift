/// An interceptor at its position in the stack.
final class Interceptor: Sendable {
    let step: StageStep<any Stage.Intercept>
    let inside: Segment
    /// The number of the interceptor, from 0 for the innermost.
    let number: Int
    let position = Stage.Position()

    init(_ step: StageStep<any Stage.Intercept>, inside: Segment, number: Int) {
        self.step = step
        self.inside = inside
        self.number = number
    }

    func run(_ request: PipelineRequest, _ context: PipelineContext) async -> CallResult {
        do {
            let next = Stage.Next(interceptor: self, context: context)
            let response = try await step.plugin.intercept(request, context: context, next: next)
            context.endInterceptor(number)
            return .success(response.needsBuffering(context) ? try await response.buffered(context) : response)
        } catch {
            return fail(error, request, context)
        }
    }

    @inline(never)
    private func fail(_ error: any Error, _ request: PipelineRequest, _ context: PipelineContext) -> CallResult {
        context.endInterceptor(number)
        return .failure(PipelineError(thrown: error, by: step.plugin, in: .intercept, request, context))
    }
}
