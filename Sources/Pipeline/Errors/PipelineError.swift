public import Foundation
public import HTTPTypes

/// The reason why a call failed.
///
/// There are three texts, none of which contains a header value, a query, a body, or the text of an underlying error. Only the
/// reasons of errors of the kind `recording` quote requests and entries, redacted.
///
/// | text | for | contents |
/// |---|---|---|
/// | `localizedDescription` | people | ``customText``, else a general sentence, such as "The server took too long to answer" |
/// | `description` | logs | code, reason, plugin, status, method, host, path, the target's type and case, exchanges |
/// | `debugDescription`, `dump` | developers | the same, and the type and status of a problem that the server reported |
///
/// ``reason`` is for developers. ``problemDetails`` has the rest of what the server reported.
///
/// A plugin or a target may throw an error of its own making, and callers match it as any other:
///
/// ```swift
/// throw PipelineError(.mapping(.json), "the body is not a list of titles", response: response)
/// ```
public struct PipelineError: Error, SafelyDescribed, LocalizedError {
    private struct Content: Sendable {
        var code: Code
        var reason: String
        var response: PipelineResponse?
        var request: PipelineRequest?
        var underlyingError: (any Error)?
        var customText: String?
        var plugin: String?
        var stage: Stage.Kind?
        var target: (any TargetType)?
        var exchanges: [PipelineExchange] = []
        var isAttributed = false
    }

    private var content: CopyOnWrite<Content>

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: what went wrong.
    ///   - reason: what exactly went wrong, for developers; it must not contain a secret.
    ///   - response: the response, if there was one.
    ///   - underlyingError: the error that this one stands for.
    public init(
        _ code: Code,
        _ reason: String,
        response: PipelineResponse? = nil,
        underlyingError: (any Error)? = nil
    ) {
        content = CopyOnWrite(
            Content(
                code: code,
                reason: reason,
                response: response,
                request: response?.request,
                underlyingError: underlyingError,
                exchanges: response?.exchanges ?? []
            )
        )
    }

    /// What went wrong.
    public var code: Code {
        get { content.value.code }
        set { content.value.code = newValue }
    }

    /// What exactly went wrong, for developers.
    public var reason: String {
        get { content.value.reason }
        set { content.value.reason = newValue }
    }

    /// The response, if there was one.
    public var response: PipelineResponse? {
        get { content.value.response }
        set { content.value.response = newValue }
    }

    /// The status of the response, for example `.notFound`; `nil` if the call failed without one.
    public var status: HTTPResponse.Status? { response?.head.status }

    /// The code of the response's status, for example 404; `nil` if the call failed without a response.
    public var statusCode: Int? { response?.statusCode }

    /// The request as it was sent, or as far as it had come.
    public var request: PipelineRequest? {
        get { content.value.request }
        set { content.value.request = newValue }
    }

    /// The error that this one stands for.
    public var underlyingError: (any Error)? {
        get { content.value.underlyingError }
        set { content.value.underlyingError = newValue }
    }

    /// The text for people that the call has for this failure, ``RequestOptions/errorText``; `nil` if it has none.
    public var customText: String? {
        get { content.value.customText }
        set { content.value.customText = newValue }
    }

    /// The name of the plugin that threw, `nil` when none did.
    public internal(set) var plugin: String? {
        get { content.value.plugin }
        set { content.value.plugin = newValue }
    }

    /// The stage in which the plugin threw.
    public internal(set) var stage: Stage.Kind? {
        get { content.value.stage }
        set { content.value.stage = newValue }
    }

    /// The exchanges of the whole call so far.
    public internal(set) var exchanges: [PipelineExchange] {
        get { content.value.exchanges }
        set { content.value.exchanges = newValue }
    }

    /// The innermost target of the call that failed; `nil` until the call has ended.
    var target: (any TargetType)? {
        get { content.value.target }
        set { content.value.target = newValue }
    }

    /// Whether it has left the place where it arose, so that a plugin which passes it on is not named as its source.
    var isAttributed: Bool {
        get { content.value.isAttributed }
        set { content.value.isAttributed = newValue }
    }
}

extension PipelineError {
    /// Wraps whatever was thrown; a task that is cancelled ends in `.cancelled`, whatever form that takes.
    init(thrown error: any Error, otherwise code: Code, _ reason: @autoclosure () -> String) {
        if let error = error as? PipelineError, error.code == .cancelled || !Task.isCancelled {
            self = error
        } else if error is CancellationError || Task.isCancelled {
            self.init(.cancelled, "the call was cancelled", underlyingError: error)
        } else {
            self.init(code, reason(), underlyingError: error)
        }
    }

    /// What a plugin threw in one of its stages, while it had this request.
    init(
        thrown error: any Error,
        by plugin: any PluginType,
        in stage: Stage.Kind,
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) {
        self.init(thrown: error, otherwise: .plugin, "it threw \(Self.name(of: error))")
        if self.request == nil { self.request = request }
        if exchanges.isEmpty { exchanges = context.exchanges }
        guard !isAttributed else { return }
        self.plugin = plugin.name
        self.stage = stage
    }

    /// The type of an error, its domain and its code: nothing that could quote a URL or a value.
    static func name(of error: any Error) -> String {
        #if canImport(ObjectiveC)
        let bridged = error as NSError
        return "\(type(of: error)) (\(bridged.domain) \(bridged.code))"
        #else
        guard let bridged = error as? any CustomNSError else { return "\(type(of: error))" }
        return "\(type(of: error)) (\(type(of: bridged).errorDomain) \(bridged.errorCode))"
        #endif
    }

    /// What an async caller is thrown: a cancelled call ends in `CancellationError`, every other in this error.
    var asThrown: any Error {
        code == .cancelled ? CancellationError() : self
    }
}

extension Result where Failure == PipelineError {
    /// What an async caller gets, or is thrown.
    package var awaited: Success {
        get throws {
            switch self {
            case .success(let value): value
            case .failure(let error): throw error.asThrown
            }
        }
    }
}
