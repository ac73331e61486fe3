#if Tracing
import HTTPTypes
import Pipeline
import Tracing

/// The names and attributes of spans, as OpenTelemetry defines them: pure functions.
struct SpanText: Sendable {
    let redactor: Redactor

    static func name(of request: PipelineRequest) -> String {
        let method = request.observedMethod
        return method == "_OTHER" ? "HTTP" : method
    }

    static func name(of request: PipelineRequest, target: any TargetType) -> String {
        "\(name(of: request)) \(type(of: target))"
    }

    func attributes(of request: PipelineRequest) -> SpanAttributes {
        var attributes: SpanAttributes = [:]
        attributes["http.request.method"] = request.observedMethod
        attributes["url.full"] = redactor.url(of: request)
        if let scheme = request.head.scheme { attributes["url.scheme"] = scheme }
        if let address = request.serverAddress { attributes["server.address"] = address }
        if let port = request.serverPort { attributes["server.port"] = Int64(port) }
        return attributes
    }

    /// Records a failure; a cancelled call does not count as failed.
    static func end(_ span: any Span, _ error: PipelineError) {
        span.updateAttributes { $0["error.type"] = error.code.rawValue }
        guard error.code != .cancelled else { return }
        span.setStatus(SpanStatus(code: .error, message: error.description))
    }

    static func end(_ span: any Span, statusCode: Int, isFailure: Bool) {
        span.updateAttributes { attributes in
            attributes["http.response.status_code"] = Int64(statusCode)
            if isFailure { attributes["error.type"] = "\(statusCode)" }
        }
        if isFailure { span.setStatus(SpanStatus(code: .error)) }
    }

    static func isFailure(_ statusCode: Int, of target: any TargetType) -> Bool {
        target.validationType == .anyStatus ? statusCode >= 400 : !target.validationType.accepts(statusCode)
    }
}
#endif
