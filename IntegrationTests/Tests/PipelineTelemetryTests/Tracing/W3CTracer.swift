import Foundation
import InMemoryTracing
import Synchronization
import Tracing

/// A tracer that keeps its spans and injects `traceparent`, `tracestate`, baggage and invalid fields.
struct W3CTracer: Tracer {
    private let inner: InMemoryTracer

    init() {
        let count = Ids()
        inner = InMemoryTracer(
            idGenerator: .init(
                nextTraceID: { String(format: "%032x", count.next()) },
                nextSpanID: { String(format: "%016x", count.next()) }
            )
        )
    }

    private final class Ids: Sendable {
        private let count = Atomic(0)

        func next() -> Int { count.add(1, ordering: .relaxed).newValue }
    }

    var finished: [FinishedInMemorySpan] { inner.finishedSpans }
    var active: [InMemorySpan] { inner.activeSpans }

    static func traceparent(_ span: FinishedInMemorySpan) -> String {
        "00-\(span.traceID)-\(span.spanID)-01"
    }

    func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> ServiceContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> InMemorySpan {
        inner.startSpan(
            operationName,
            context: context(),
            ofKind: kind,
            at: instant(),
            function: function,
            file: fileID,
            line: line
        )
    }

    func forceFlush() {}

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout ServiceContext,
        using extractor: Extract
    ) where Carrier == Extract.Carrier {}

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Carrier == Inject.Carrier {
        guard let span = context.inMemorySpanContext else { return }
        injector.inject("00-\(span.traceID)-\(span.spanID)-01", forKey: "traceparent", into: &carrier)
        injector.inject("vendor=1", forKey: "tracestate", into: &carrier)
        injector.inject("user=canary-baggage", forKey: "baggage", into: &carrier)
        injector.inject("x\r\nEvil: 1", forKey: "x-split", into: &carrier)
        injector.inject("x", forKey: "not a name", into: &carrier)
    }
}

extension FinishedInMemorySpan {
    /// The attributes as text.
    var texts: [String: String] {
        var result: [String: String] = [:]
        func add(_ name: String, _ value: SpanAttribute) {
            switch value {
            case .string(let text): result[name] = text
            case .int64(let number): result[name] = "\(number)"
            case .bool(let flag): result[name] = "\(flag)"
            default: result[name] = "\(value)"
            }
        }
        attributes.forEach(add)
        return result
    }

    /// All text that a backend would show.
    var everything: String {
        var text = "\(operationName) \(texts) \(status?.message ?? "") \(events.map(\.name)) "
        for error in errors { text += "\(error.error) \(error.attributes)" }
        return text
    }

    /// The duration of the span, in nanoseconds.
    var duration: UInt64 { endInstant.nanosecondsSinceEpoch - startInstant.nanosecondsSinceEpoch }
}
