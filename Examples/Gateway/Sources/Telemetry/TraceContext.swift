import Tracing

/// An instrument that passes the trace of an incoming request on to the upstreams, without making spans.
///
/// A program with a tracing backend, such as swift-otel, uses its tracer instead, which also makes the spans of
/// `TracingMiddleware` and `TracingPlugin`.
///
/// Source: W3C Trace Context, https://www.w3.org/TR/trace-context/
struct TraceContext: Instrument {
    private enum Key: ServiceContextKey {
        typealias Value = [String: String]
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout ServiceContext,
        using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let parent = extractor.extract(key: "traceparent", from: carrier) else { return }
        var fields = ["traceparent": parent]
        fields["tracestate"] = extractor.extract(key: "tracestate", from: carrier)
        context[Key.self] = fields
    }

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Inject.Carrier == Carrier {
        for (name, value) in context[Key.self] ?? [:] { injector.inject(value, forKey: name, into: &carrier) }
    }
}
