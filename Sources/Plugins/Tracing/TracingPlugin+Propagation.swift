#if Tracing
import HTTPTypes
public import Pipeline
public import Tracing

extension TracingPlugin {
    /// Sends the trace with each request: `traceparent`, and whatever else the tracer wants servers to know.
    ///
    /// ```swift
    /// plugins: [TracingPlugin(), RetryPlugin(), DeduplicationPlugin(), TracingPlugin.Propagation()]
    /// ```
    ///
    /// **Position**: the innermost exchange plugin, but outside those that sign what it adds: each request that leaves has a span of its own.
    /// Of a plugin inside that sends several requests, all are sent with the first span. Its place among
    /// the plugins of the call does not matter. Without a ``TracingPlugin``, what is current where the call is made is sent, and no span is made.
    ///
    /// **Effects**: sets the fields that the tracer injects, replacing those of the same name, for the span of the exchange that
    /// follows, which it begins; each hop of a redirect has its own. A field that may not stand in a request is left out. When no
    /// exchange follows, because a plugin inside answers or refuses, the span ends with `pipeline.sent` set to false.
    ///
    /// **Defaults**
    ///
    /// | setting | default |
    /// |---|---|
    /// | `instrument` | the tracer of the ``TracingPlugin``; for a tracer of `InstrumentationSystem` all of its instruments |
    ///
    /// **Errors**: throws none, and passes every failure on.
    ///
    /// **Secrets**: fields other than `traceparent` and `tracestate`, such as `baggage`, are marked as secret: they are not shown,
    /// and not sent after a redirect has left the origin.
    ///
    /// Source: W3C Trace Context, https://www.w3.org/TR/trace-context/
    public struct Propagation: Stage.Exchange {
        private let instrument: (any Instrument)?

        /// The name in errors and in `explain()`.
        public var name: String { "TracingPlugin.Propagation" }

        /// Makes a plugin.
        ///
        /// - Parameter instrument: injects the fields; `nil` for that of the ``TracingPlugin`` outside.
        public init(instrument: (any Instrument)? = nil) {
            self.instrument = instrument
        }

        /// Sets the fields.
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
                // Tracing is no reason for a call to fail: what cannot be sent is not.
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
    /// A capability of its own: it sends the trace to servers.
    public var capabilities: Set<PluginCapability> { [.propagatesTraces] }
}
#endif
