/// Makes plugins that record each run of a stage in the timeline of its call.
///
/// The compiled pipeline contains them only if the provider records timelines, so that other calls pay nothing.
struct TimedStages {
    func prepare(_ plugin: any Stage.Prepare) -> any Stage.Prepare { Prepare(plugin: plugin) }
    func intercept(_ plugin: any Stage.Intercept) -> any Stage.Intercept { Intercept(plugin: plugin) }
    func exchange(_ plugin: any Stage.Exchange) -> any Stage.Exchange { Exchange(plugin: plugin) }
    func willSend(_ plugin: any Stage.WillSend) -> any Stage.WillSend { WillSend(plugin: plugin) }
    func didReceive(_ plugin: any Stage.DidReceive) -> any Stage.DidReceive { DidReceive(plugin: plugin) }
    func process(_ plugin: any Stage.Process) -> any Stage.Process { Process(plugin: plugin) }
    func transport(_ transport: any Transport) -> any Transport { TimedTransport(transport: transport) }

    private struct Prepare: Stage.Prepare {
        let plugin: any Stage.Prepare
        var name: String { plugin.name }

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
            let span = context.call.timeline?.begin(.stage(.prepare), .text(name), context)
            do {
                try await plugin.prepare(&request, context: context.inside(span))
                context.call.timeline?.end(span)
            } catch {
                context.call.timeline?.end(span, TimelineRecorder.outcome(of: error))
                throw error
            }
        }
    }

    private struct Intercept: Stage.Intercept {
        let plugin: any Stage.Intercept
        var name: String { plugin.name }

        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse {
            let span = context.call.timeline?.begin(.stage(.intercept), .text(name), context)
            let next = Stage.Next(interceptor: next.interceptor, context: next.context.inside(span))
            do {
                let response = try await plugin.intercept(request, context: context.inside(span), next: next)
                context.call.timeline?.end(span, "\(response.statusCode)")
                return response
            } catch {
                context.call.timeline?.end(span, TimelineRecorder.outcome(of: error))
                throw error
            }
        }
    }

    private struct Exchange: Stage.Exchange {
        let plugin: any Stage.Exchange
        var name: String { plugin.name }

        func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            let span = context.call.timeline?.begin(.stage(.exchange), .text(name), context)
            let context = context.inside(span)
            let send = Stage.Send(hop: send.hop, index: send.index, context: context, door: send.door)
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

    private struct WillSend: Stage.WillSend {
        let plugin: any Stage.WillSend
        var name: String { plugin.name }

        func willSend(_ request: PipelineRequest, context: PipelineContext) {
            let span = context.call.timeline?.begin(.stage(.willSend), .text(name), context)
            plugin.willSend(request, context: context)
            context.call.timeline?.end(span)
        }
    }

    private struct DidReceive: Stage.DidReceive {
        let plugin: any Stage.DidReceive
        var name: String { plugin.name }

        func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
            let span = context.call.timeline?.begin(.stage(.didReceive), .text(name), context)
            plugin.didReceive(result, context: context)
            context.call.timeline?.end(span)
        }
    }

    private struct Process: Stage.Process {
        let plugin: any Stage.Process
        var name: String { plugin.name }

        func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
            let span = context.call.timeline?.begin(.stage(.process), .text(name), context)
            await plugin.process(&result, context: context.inside(span))
            context.call.timeline?.end(span)
        }
    }
}
