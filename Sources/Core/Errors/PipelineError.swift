public import Foundation
public import HTTPTypes

/// An error that describes why a call failed.
///
/// It has three texts, none of which contains a header value, a query, a body, or the text of an underlying error. The
/// only exception is the reason of an error of the kind `recording`, which quotes requests and entries in redacted
/// form.
///
/// | text | for | contents |
/// |---|---|---|
/// | `localizedDescription` | people | ``customText``, else a general text that says what people can do |
/// | `description` | logs | code, reason, plugin, status, method, host, path, the target's type and case, exchanges |
/// | `debugDescription`, `dump` | developers | the same, and the type and status of a problem that the server reported |
///
/// ``reason`` is for developers. ``problemDetails`` contains the rest of what the server reported.
///
/// A plugin or a target may throw an error of its own, which callers match like any other:
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
        var timeline: Timeline?
    }

    private var content: CopyOnWrite<Content>

    /// Makes an error with a code and a reason.
    ///
    /// - Parameters:
    ///   - code: what went wrong.
    ///   - reason: what exactly went wrong, for developers; it must not contain a secret.
    ///   - response: the response, if there was one.
    ///   - underlyingError: the error that caused this one.
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

    /// What went wrong, as a code that callers can match.
    public var code: Code {
        get { content.value.code }
        set { content.value.code = newValue }
    }

    /// What exactly went wrong, for developers.
    public var reason: String {
        get { content.value.reason }
        set { content.value.reason = newValue }
    }

    /// The response; `nil` if the call failed without one.
    public var response: PipelineResponse? {
        get { content.value.response }
        set { content.value.response = newValue }
    }

    /// The status of the response, for example `.notFound`; `nil` if the call failed without one.
    public var status: HTTPResponse.Status? { response?.head.status }

    /// The code of the response's status, for example 404; `nil` if the call failed without a response.
    public var statusCode: Int? { response?.statusCode }

    /// The request as it was sent, or as far as it had been prepared.
    public var request: PipelineRequest? {
        get { content.value.request }
        set { content.value.request = newValue }
    }

    /// The error that caused this one, if there is one.
    public var underlyingError: (any Error)? {
        get { content.value.underlyingError }
        set { content.value.underlyingError = newValue }
    }

    /// The text for users that ``RequestOptions/errorText`` of the call returned for this failure; `nil` if there is
    /// none.
    public var customText: String? {
        get { content.value.customText }
        set { content.value.customText = newValue }
    }

    /// The name of the plugin that threw the error; `nil` if none did.
    public var plugin: String? { content.value.plugin }

    /// The stage in which the plugin threw the error; `nil` if no plugin did.
    public var stage: Stage.Kind? { content.value.stage }

    /// The exchanges of the whole call so far.
    public internal(set) var exchanges: [PipelineExchange] {
        get { content.value.exchanges }
        set { content.value.exchanges = newValue }
    }

    /// What the call spent its time on; `nil` unless ``ProviderConfiguration/timeline`` is `true`.
    public internal(set) var timeline: Timeline? {
        get { content.value.timeline }
        set { content.value.timeline = newValue }
    }

    /// The innermost target of the failed call; `nil` until the call has ended.
    var target: (any TargetType)? {
        get { content.value.target }
        set { content.value.target = newValue }
    }

    /// Whether the error has left the place where it arose.
    ///
    /// A plugin that passes it on is then not named as its source.
    var isAttributed: Bool {
        get { content.value.isAttributed }
        set { content.value.isAttributed = newValue }
    }
}

extension PipelineError {
    /// Wraps any thrown error.
    ///
    /// If the task is cancelled, the code is `.cancelled`.
    init(thrown error: any Error, otherwise code: Code, _ reason: @autoclosure () -> String) {
        if let error = error as? PipelineError, error.code == .cancelled || !Task.isCancelled {
            self = error
        } else if error is CancellationError || Task.isCancelled {
            self.init(.cancelled, "the call was cancelled", underlyingError: error)
        } else {
            self.init(code, reason(), underlyingError: error)
        }
    }

    /// Wraps what a plugin threw in one of its stages while it had this request.
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
        content.value.plugin = plugin.name
        content.value.stage = stage
    }

    /// Returns the type, domain and code of an error, none of which can quote a URL or a value.
    static func name(of error: any Error) -> String {
        #if canImport(ObjectiveC)
        let bridged = error as NSError
        return "\(type(of: error)) (\(bridged.domain) \(bridged.code))"
        #else
        guard let bridged = error as? any CustomNSError else { return "\(type(of: error))" }
        return "\(type(of: error)) (\(type(of: bridged).errorDomain) \(bridged.errorCode))"
        #endif
    }

    /// The error for an async caller: `CancellationError` for a cancelled call, otherwise this error.
    var asThrown: any Error {
        code == .cancelled ? CancellationError() : self
    }
}

extension Result where Failure == PipelineError {
    /// The value; throws the error for an async caller.
    package var awaited: Success {
        get throws {
            switch self {
            case .success(let value): value
            case .failure(let error): throw error.asThrown
            }
        }
    }
}
