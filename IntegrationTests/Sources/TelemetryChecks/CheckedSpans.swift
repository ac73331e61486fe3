package import InMemoryTracing
import Tracing

/// The rules for the spans of `TracingPlugin`.
package enum CheckedSpans {
    /// Checks a span.
    ///
    /// - Parameters:
    ///   - span: a span that has ended.
    ///   - knownMethods: the methods that the plugin knows.
    /// - Returns: the violations.
    package static func violations(
        of span: FinishedInMemorySpan,
        knownMethods: Set<String> = Convention.methods
    ) -> [String] {
        let values = values(of: span)
        let found = span.kind == .client ? client(span, values, knownMethods) : call(span, values)
        return (found + status(span, values)).map { "\($0): \(span.operationName) \(values.mapValues(\.text))" }
    }

    private static func client(
        _ span: FinishedInMemorySpan,
        _ values: [String: Convention.Value],
        _ knownMethods: Set<String>
    ) -> [String] {
        guard let convention = Convention.signals[Convention.clientSpan] else { return ["there is no table"] }
        let method = values["http.request.method"]?.text ?? ""
        var name = method == "_OTHER" ? "HTTP" : method
        if let template = values["url.template"]?.text { name += " " + template }
        return convention.violations(values, knownMethods: knownMethods)
            + (span.operationName == name ? [] : ["the name is not \(name)"])
    }

    private static func call(_ span: FinishedInMemorySpan, _ values: [String: Convention.Value]) -> [String] {
        (span.kind == .internal ? [] : ["the kind is \(span.kind)"])
            + values.keys.filter { !$0.hasPrefix("pipeline.") && $0 != "error.type" }.map { "a call has \($0)" }
    }

    private static func status(_ span: FinishedInMemorySpan, _ values: [String: Convention.Value]) -> [String] {
        let error = values["error.type"]?.text
        var result: [String] = []
        if (span.status?.code == .error) != (error != nil) { result.append("Error status and error.type differ") }
        if span.status?.code == .ok { result.append("the status is OK") }
        if let error, Int(error) != nil, span.kind == .client, span.status?.message != nil {
            result.append("the status has a description although its code says all")
        }
        return result
    }

    private static func values(of span: FinishedInMemorySpan) -> [String: Convention.Value] {
        var result: [String: Convention.Value] = [:]
        func add(_ name: String, _ value: SpanAttribute) {
            switch value {
            case .string(let text): result[name] = .string(text)
            case .int64(let number): result[name] = .int(number)
            case .bool(let flag): result[name] = .bool(flag)
            default: result[name] = .other("\(value)")
            }
        }
        span.attributes.forEach(add)
        return result
    }
}
