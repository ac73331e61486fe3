/// How the compiled pipeline records the stages of its plugins; calls of a pipeline that records none pay nothing.
enum StageTiming {
    case none
    /// Records each stage in the timeline of its call.
    case timeline
    /// Records the last stage and the core, too.
    case analysis
}

/// A plugin that records each run of one of its stages in the timeline of its call.
struct TimedPlugin<Plugin: Sendable>: PluginType {
    let plugin: Plugin
    let name: String
    let index: Int

    private func begin(_ stage: Stage.Kind, _ context: PipelineContext) -> Int? {
        context.call.timeline?.begin(.stage(stage), .text(name), context, of: index)
    }
}

extension TimedPlugin: Stage.Prepare where Plugin == any Stage.Prepare {
    func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        let span = begin(.prepare, context)
        let inside = context.inside(span)
        context.call.timeline?.enter(span)
        do {
            try await plugin.prepare(&request, context: inside)
            context.call.timeline?.end(span)
        } catch {
            context.call.timeline?.end(span, TimelineRecorder.outcome(of: error))
            throw error
        }
    }
}

extension TimedPlugin: Stage.Intercept where Plugin == any Stage.Intercept {
    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        let span = begin(.intercept, context)
        let next = Stage.Next(interceptor: next.interceptor, context: next.context.inside(span))
        let inside = context.inside(span)
        context.call.timeline?.enter(span)
        do {
            let response = try await plugin.intercept(request, context: inside, next: next)
            context.call.timeline?.end(span, "\(response.statusCode)")
            return response
        } catch {
            context.call.timeline?.end(span, TimelineRecorder.outcome(of: error))
            throw error
        }
    }
}

extension TimedPlugin: Stage.Exchange where Plugin == any Stage.Exchange {
    func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        let span = begin(.exchange, context)
        let context = context.inside(span)
        let send = Stage.Send(hop: send.hop, index: send.index, context: context, door: send.door)
        context.call.timeline?.enter(span)
        do {
            let response = try await plugin.exchange(request, context: context, send: send)
            context.call.timeline?.end(span, "\(response.statusCode)")
            return response
        } catch {
            context.call.timeline?.end(span, TimelineRecorder.outcome(of: error))
            throw error
        }
    }
}

extension TimedPlugin: Stage.WillSend where Plugin == any Stage.WillSend {
    func willSend(_ request: PipelineRequest, context: PipelineContext) {
        let span = begin(.willSend, context)
        plugin.willSend(request, context: context)
        context.call.timeline?.end(span)
    }
}

extension TimedPlugin: Stage.DidReceive where Plugin == any Stage.DidReceive {
    func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        let span = begin(.didReceive, context)
        plugin.didReceive(result, context: context)
        context.call.timeline?.end(span)
    }
}

extension TimedPlugin: Stage.Process where Plugin == any Stage.Process {
    func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
        let span = begin(.process, context)
        let inside = context.inside(span)
        context.call.timeline?.enter(span)
        await plugin.process(&result, context: inside)
        context.call.timeline?.end(span)
    }
}

extension TimedPlugin: Stage.DidFinish where Plugin == any Stage.DidFinish {
    func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) {
        let span = begin(.didFinish, context)
        plugin.didFinish(outcome, context: context)
        context.call.timeline?.end(span)
    }
}

/// The plugin inside each interceptor and exchange plugin, with which an analysis does not count the core's work as
/// theirs.
struct TimedCore: Stage.Intercept, Stage.Exchange {
    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        let span = context.call.timeline?.begin(.core, .text(name), context)
        defer { context.call.timeline?.end(span) }
        return try await Stage.Next(interceptor: next.interceptor, context: context.inside(span))(request)
    }

    func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        let span = context.call.timeline?.begin(.core, .text(name), context)
        defer { context.call.timeline?.end(span) }
        let context = context.inside(span)
        return try await Stage.Send(hop: send.hop, index: send.index, context: context, door: send.door)(request)
    }
}
