/// Makes plugins that record each run of a stage in the timeline of its call.
///
/// The compiled pipeline contains them only if the provider records timelines, so that other calls pay nothing.
struct TimedStages {
    /// Whether the stages are timed for an analysis, which also records the last stage and the core.
    let isAnalysis: Bool

    func prepare(_ plugin: any Stage.Prepare, at index: Int) -> any Stage.Prepare {
        Prepare(plugin, index)
    }
    func intercept(_ plugin: any Stage.Intercept, at index: Int) -> any Stage.Intercept {
        Intercept(plugin, index)
    }
    func exchange(_ plugin: any Stage.Exchange, at index: Int) -> [any Stage.Exchange] {
        let timed = Exchange(plugin, index)
        return isAnalysis ? [timed, Core()] : [timed]
    }
    func willSend(_ plugin: any Stage.WillSend, at index: Int) -> any Stage.WillSend {
        WillSend(plugin, index)
    }
    func didReceive(_ plugin: any Stage.DidReceive, at index: Int) -> any Stage.DidReceive {
        DidReceive(plugin, index)
    }
    func process(_ plugin: any Stage.Process, at index: Int) -> any Stage.Process {
        Process(plugin, index)
    }
    func didFinish(_ plugin: any Stage.DidFinish, at index: Int) -> any Stage.DidFinish {
        isAnalysis ? DidFinish(plugin, index) : plugin
    }
    func transport(_ transport: any Transport) -> any Transport { TimedTransport(transport: transport) }

    /// The plugin to add inside each interceptor, so that an analysis does not count the core's work as the plugin's.
    var core: (any Stage.Intercept)? { isAnalysis ? Core() : nil }

    private struct Core: Stage.Intercept, Stage.Exchange {
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

    private struct DidFinish: Stage.DidFinish {
        let plugin: any Stage.DidFinish
        let name: String
        let index: Int

        init(_ plugin: any Stage.DidFinish, _ index: Int) {
            self.plugin = plugin
            self.index = index
            name = plugin.name
        }

        func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) {
            let span = context.call.timeline?.begin(.stage(.didFinish), .text(name), context, of: index)
            plugin.didFinish(outcome, context: context)
            context.call.timeline?.end(span)
        }
    }

    private struct Prepare: Stage.Prepare {
        let plugin: any Stage.Prepare
        let name: String
        let index: Int

        init(_ plugin: any Stage.Prepare, _ index: Int) {
            self.plugin = plugin
            self.index = index
            name = plugin.name
        }

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
            let span = context.call.timeline?.begin(.stage(.prepare), .text(name), context, of: index)
            let inside = context.inside(span)
            context.call.timeline?.enter(span)
            do {
                try await plugin.prepare(&request, context: inside)
                context.call.timeline?.end(span)
            } catch {
                context.call.timeline?.end(span, .init(error))
                throw error
            }
        }
    }

    private struct Intercept: Stage.Intercept {
        let plugin: any Stage.Intercept
        let name: String
        let index: Int

        init(_ plugin: any Stage.Intercept, _ index: Int) {
            self.plugin = plugin
            self.index = index
            name = plugin.name
        }

        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse {
            let span = context.call.timeline?.begin(.stage(.intercept), .text(name), context, of: index)
            let next = Stage.Next(interceptor: next.interceptor, context: next.context.inside(span))
            let inside = context.inside(span)
            context.call.timeline?.enter(span)
            do {
                let response = try await plugin.intercept(request, context: inside, next: next)
                context.call.timeline?.end(span, .status(response.statusCode))
                return response
            } catch {
                context.call.timeline?.end(span, .init(error))
                throw error
            }
        }
    }

    private struct Exchange: Stage.Exchange {
        let plugin: any Stage.Exchange
        let name: String
        let index: Int

        init(_ plugin: any Stage.Exchange, _ index: Int) {
            self.plugin = plugin
            self.index = index
            name = plugin.name
        }

        func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            let span = context.call.timeline?.begin(.stage(.exchange), .text(name), context, of: index)
            let context = context.inside(span)
            let send = Stage.Send(hop: send.hop, index: send.index, context: context, door: send.door)
            context.call.timeline?.enter(span)
            do {
                let response = try await plugin.exchange(request, context: context, send: send)
                context.call.timeline?.end(span, .status(response.statusCode))
                return response
            } catch {
                context.call.timeline?.end(span, .init(error))
                throw error
            }
        }
    }

    private struct WillSend: Stage.WillSend {
        let plugin: any Stage.WillSend
        let name: String
        let index: Int

        init(_ plugin: any Stage.WillSend, _ index: Int) {
            self.plugin = plugin
            self.index = index
            name = plugin.name
        }

        func willSend(_ request: PipelineRequest, context: PipelineContext) {
            let span = context.call.timeline?.begin(.stage(.willSend), .text(name), context, of: index)
            plugin.willSend(request, context: context)
            context.call.timeline?.end(span)
        }
    }

    private struct DidReceive: Stage.DidReceive {
        let plugin: any Stage.DidReceive
        let name: String
        let index: Int

        init(_ plugin: any Stage.DidReceive, _ index: Int) {
            self.plugin = plugin
            self.index = index
            name = plugin.name
        }

        func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
            let span = context.call.timeline?.begin(.stage(.didReceive), .text(name), context, of: index)
            plugin.didReceive(result, context: context)
            context.call.timeline?.end(span)
        }
    }

    private struct Process: Stage.Process {
        let plugin: any Stage.Process
        let name: String
        let index: Int

        init(_ plugin: any Stage.Process, _ index: Int) {
            self.plugin = plugin
            self.index = index
            name = plugin.name
        }

        func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
            let span = context.call.timeline?.begin(.stage(.process), .text(name), context, of: index)
            let inside = context.inside(span)
            context.call.timeline?.enter(span)
            await plugin.process(&result, context: inside)
            context.call.timeline?.end(span)
        }
    }
}
