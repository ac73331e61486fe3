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
    /// **Position**: innermost. Inside a plugin that sends again each attempt is sent with a span of its own, outside it all
    /// with one. Outside a plugin that shares answers, requests that were equal are so no longer: each has its own `traceparent`.
    /// Inside a ``TracingPlugin``; without one, what is current where the call is made is sent, and no span is made.
    ///
    /// **Effects**: sets the fields that the tracer injects, replacing those of the same name, for the span of the exchange that
    /// follows, which it begins. A field that may not stand in a request is left out. A redirect takes the fields along: its
    /// exchange has a span of its own, and the server is told of the one before it. When no exchange follows, because a plugin
    /// inside answers or refuses, the span ends with `pipeline.sent` set to false.
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
    /// and dropped when a redirect leaves the origin.
    ///
    /// Source: W3C Trace Context, https://www.w3.org/TR/trace-context/
    public struct Propagation: Stage.Intercept {
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
        public func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Next
        ) async throws -> PipelineResponse {
            guard let trace = context[CurrentTrace.self].trace else {
                guard let current = ServiceContext.current else { return try await next(request) }
                return try await next(inject(current, into: request, instrument ?? InstrumentationSystem.instrument))
            }
            let exchange = trace.prepareExchange(request, context)
            do {
                let response = try await next(inject(exchange, into: request, instrument ?? trace.instrument))
                trace.endUnsent(context, nil)
                return response
            } catch {
                trace.endUnsent(context, error)
                throw error
            }
        }

        private func inject(
            _ context: ServiceContext,
            into request: PipelineRequest,
            _ instrument: any Instrument
        ) -> PipelineRequest {
            var fields: [String: String] = [:]
            instrument.inject(context, into: &fields, using: FieldInjector())
            var request = request
            for (key, value) in fields {
                guard let name = HTTPField.Name(key) else { continue }
                let isPublic = name == .traceparent || name == .tracestate
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

    /// Finds a ``TracingPlugin`` inside; notes other interceptors inside.
    public var orderRules: [OrderRule] {
        [
            OrderRule(
                "propagation-outside-tracing",
                [.propagatesTraces],
                .outside,
                [.traces],
                consequence: "servers get a span other than that of the call"
            ),
            OrderRule(
                "propagation-outside-interceptor",
                [.propagatesTraces],
                .outside,
                [.intercepts],
                except: [.traces],
                consequence: "all attempts of the inner plugin have one traceparent, and requests differ by it",
                remedy: "put TracingPlugin.Propagation innermost",
                severity: .note
            ),
        ]
    }
}
#endif
