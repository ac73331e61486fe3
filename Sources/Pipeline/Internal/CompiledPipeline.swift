import HTTPTypes

/// The stack of a provider as flat lists, made once when the provider is.
///
/// Interceptors cut the stack into segments. A segment holds the prepare and process stages from after the interceptor
/// before it up to and including its own interceptor; the last has none and ends in exchanges.
final class CompiledPipeline: Sendable {
    struct Segment: Sendable {
        var prepares: [(position: Int, plugin: any Stage.Prepare)] = []
        var interceptor: (any Stage.Intercept)?
        /// Innermost first: in the order in which they run.
        var processes: [(position: Int, plugin: any Stage.Process)] = []
    }

    let plugins: [any PluginType]
    let segments: [Segment]
    let exchanger: Exchanger

    init(plugins: [any PluginType], transport: any Transport) {
        self.plugins = plugins
        self.exchanger = Exchanger(
            transport: transport,
            willSend: plugins.compactMap { $0 as? any Stage.WillSend },
            didReceive: plugins.compactMap { $0 as? any Stage.DidReceive }
        )
        var segments = [Segment()]
        for (position, plugin) in plugins.enumerated() {
            let last = segments.count - 1
            if let plugin = plugin as? any Stage.Prepare { segments[last].prepares.append((position, plugin)) }
            if let plugin = plugin as? any Stage.Process { segments[last].processes.insert((position, plugin), at: 0) }
            if let plugin = plugin as? any Stage.Intercept {
                segments[last].interceptor = plugin
                segments.append(Segment())
            }
            precondition(
                !Stage.Kind.all(of: plugin).isEmpty,
                "the plugin \(plugin.name) at position \(position) takes part in no stage: conform it to one of Stage's protocols"
            )
        }
        self.segments = segments
    }

    /// Runs a segment and all that is inside it.
    func run(segment index: Int, _ request: PipelineRequest, _ context: PipelineContext) async -> CallResult {
        var request = request
        for (position, plugin) in segments[index].prepares {
            if Task.isCancelled {
                return await process(.cancelled(before: request), index, outside: position, context)
            }
            do {
                try await plugin.prepare(&request, context: context)
            } catch {
                var failure = PipelineError(thrown: error, by: plugin, in: .prepare)
                if failure.request == nil { failure.request = request }
                return await process(.failure(failure), index, outside: position, context)
            }
        }
        let result: CallResult
        if let interceptor = segments[index].interceptor {
            result = await intercept(interceptor, segment: index, request, context)
        } else {
            result = await exchanger.run(request, context)
        }
        return await process(result, index, outside: .max, context)
    }

    /// Lets every process stage see the failure of a call that never became a request.
    func processAll(_ result: CallResult, _ context: PipelineContext) async -> CallResult {
        var result = result
        for index in segments.indices.reversed() {
            result = await process(result, index, outside: .max, context)
        }
        return result
    }

    private func process(
        _ result: CallResult,
        _ index: Int,
        outside position: Int,
        _ context: PipelineContext
    ) async -> CallResult {
        var result = result
        for step in segments[index].processes where step.position < position {
            await step.plugin.process(&result, context: context)
        }
        return result
    }

    private func intercept(
        _ interceptor: any Stage.Intercept,
        segment index: Int,
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) async -> CallResult {
        if Task.isCancelled { return .cancelled(before: request) }
        let pass = InterceptorPass(pipeline: self, segment: index + 1, context: context)
        defer { pass.close() }
        do {
            return .success(try await interceptor.intercept(request, context: context, next: Next(pass: pass)))
        } catch {
            var failure = PipelineError(thrown: error, by: interceptor, in: .intercept)
            if failure.request == nil { failure.request = request }
            return .failure(failure)
        }
    }
}

/// What a call comes to, as plugins see it.
typealias CallResult = Result<PipelineResponse, PipelineError>

extension CallResult {
    static func cancelled(before request: PipelineRequest) -> CallResult {
        var error = PipelineError(.cancelled, "the call was cancelled")
        error.request = request
        return .failure(error)
    }
}
