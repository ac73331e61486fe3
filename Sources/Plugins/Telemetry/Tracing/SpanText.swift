#if Telemetry
import HTTPTypes
import PipelineCore
import Tracing

/// The names and attributes of spans, as OpenTelemetry defines them: pure functions.
struct SpanText: Sendable {
    let redactor: Redactor
    let methods: Set<HTTPRequest.Method>

    /// Returns the name of a call's span: the type of its target and, if there is one, the template of its path.
    static func name(of target: any TargetType) -> String {
        let type = "\(type(of: target))"
        return target.pathTemplate.map { type + " " + $0 } ?? type
    }

    /// Returns the name of an exchange's span.
    func name(of request: PipelineRequest, _ template: String?) -> String {
        let known = methods.name(of: request.method)
        let method = known == Set.otherMethod ? "HTTP" : known
        return template.map { method + " " + $0 } ?? method
    }

    /// Returns the attributes that describe a request.
    func attributes(of request: PipelineRequest, _ template: String?) -> SpanAttributes {
        var attributes: SpanAttributes = [:]
        let method = methods.name(of: request.method)
        attributes["http.request.method"] = method
        if method != request.method.rawValue { attributes["http.request.method_original"] = request.method.rawValue }
        attributes["url.full"] = redactor.url(of: request)
        if let scheme = request.head.scheme { attributes["url.scheme"] = scheme }
        if let template { attributes["url.template"] = template }
        if let server = request.observedServer {
            attributes["server.address"] = server.address
            attributes["server.port"] = Int64(server.port)
        }
        return attributes
    }

    /// Adds the attributes that describe the response and the connection of an exchange.
    static func add(_ exchange: PipelineExchange, to attributes: inout SpanAttributes) {
        if let statusCode = exchange.statusCode { attributes["http.response.status_code"] = Int64(statusCode) }
        guard let connection = exchange.connection else { return }
        if let version = connection.protocolVersion { attributes["network.protocol.version"] = version }
        guard let address = connection.peerAddress else { return }
        attributes["network.peer.address"] = address
        if let port = connection.peerPort { attributes["network.peer.port"] = Int64(port) }
    }

    /// Marks a span as failed.
    ///
    /// - Parameters:
    ///   - span: the span.
    ///   - type: the value of `error.type`; `nil` leaves the span unchanged.
    ///   - error: describes the failure, unless the type is a status.
    static func fail(_ span: any Span, _ type: String?, _ error: PipelineError? = nil) {
        guard let type, span.isRecording else { return }
        span.updateAttributes { $0["error.type"] = type }
        span.setStatus(SpanStatus(code: .error, message: error?.description))
    }
}
#endif
