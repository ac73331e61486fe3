#if Telemetry
import HTTPTypes
public import PipelineCore
public import Tracing

extension TracingPlugin {
    /// A plugin that sends the trace with each request: `traceparent`, and any other fields that the tracer injects.
    ///
    /// ```swift
    /// plugins: [TracingPlugin(), RetryPlugin(), DeduplicationPlugin(), TracingPlugin.Propagation()]
    /// ```
    ///
    /// **Effects**: starts the span of the exchange that follows, and sets the fields that the tracer injects for it,
    /// replacing fields of the same name. Each hop of a redirect has its own span. A field that is not valid in a
    /// request is left out. If no exchange follows, because a plugin inside responds or fails, the span ends with
    /// `pipeline.sent` set to false.
    ///
    /// **Defaults**
    ///
    /// | setting | default |
    /// |---|---|
    /// | `instrument` | the tracer of the ``TracingPlugin``; for a tracer of `InstrumentationSystem` all of its instruments |
    ///
    /// **Position**: the innermost exchange plugin, but outside those that sign what it adds, so that each request sent
    /// has a span of its own. If a plugin inside sends several requests, all carry the first span. Its position
    /// relative to other kinds of plugins does not matter. Without a ``TracingPlugin``, it sends the span that is
    /// current where the call is made, and makes no span.
    ///
    /// **Errors**: throws none. Failures pass through unchanged.
    ///
    /// **Secrets**: fields other than `traceparent` and `tracestate`, such as `baggage`, are marked as secret: they are
    /// hidden, and not sent after a redirect has left the origin.
    ///
    /// Source: W3C Trace Context, https://www.w3.org/TR/trace-context/
    public struct Propagation: Stage.Exchange {
        private let instrument: (any Instrument)?

        /// The name in errors and in `explain()`, `TracingPlugin.Propagation`.
        public var name: String { "TracingPlugin.Propagation" }

        /// Makes a plugin.
        ///
        /// - Parameter instrument: injects the fields; `nil` uses that of the ``TracingPlugin`` outside.
        public init(instrument: (any Instrument)? = nil) {
            self.instrument = instrument
        }

        /// Starts the span of the exchange and sets the fields that carry the trace.
        public func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            guard let trace = context[CurrentTrace.self].trace else {
                guard let current = ServiceContext.current else { return try await send(request) }
                return try await send(inject(current, into: request, context, instrument))
            }
            let prepared = trace.prepareExchange(request, context)
            let traced = inject(prepared.context, into: request, context, instrument ?? trace.instrument)
            do {
                let response = try await PreparedSpan.$current.withValue(prepared) { try await send(traced) }
                trace.endUnsent(prepared, context, nil)
                return response
            } catch {
                trace.endUnsent(prepared, context, error)
                throw error
            }
        }

        private func inject(
            _ current: ServiceContext,
            into request: PipelineRequest,
            _ context: PipelineContext,
            _ instrument: (any Instrument)?
        ) -> PipelineRequest {
            var fields: [String: String] = [:]
            let instrument = instrument ?? InstrumentationSystem.instrument
            instrument.inject(current, into: &fields, using: FieldInjector())
            var request = request
            for (key, value) in fields {
                guard let name = HTTPField.Name(key) else { continue }
                let isPublic = name == .traceparent || name == .tracestate
                guard isPublic || !context.hasLeftOrigin else { continue }
                // Tracing must not fail a call: a field that cannot be sent is left out.
                try? request.setHeader(value, for: name, isSecret: !isPublic)
            }
            return request
        }
    }

    private struct FieldInjector: Injector {
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
            carrier[key] = value
        }
    }
}

extension TracingPlugin.Propagation: CapabilityDeclaring {
    /// A capability of its own: the plugin sends the trace to servers.
    public var capabilities: Set<PluginCapability> { [.propagatesTraces] }
}
#endif
