public import Foundation

/// Why a call failed.
///
/// Its description, also in `dump`, holds code, reason, method, host, status and counts; never a header value, a query, a body, or the
/// text of an underlying error. `localizedDescription` is ``customText`` when there is one, else the description.
public struct PipelineError: Error {
    private struct Content: Sendable {
        var code: Code
        var reason: String
        var response: PipelineResponse?
        var request: PipelineRequest?
        var underlyingError: (any Error)?
        var customText: String?
        var plugin: String?
        var stage: Stage.Kind?
        var exchanges: [PipelineExchange] = []
        var isAttributed = false
    }

    private var content: CopyOnWrite<Content>

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: what went wrong.
    ///   - reason: what exactly, for people; it must not hold a secret.
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

    /// What exactly went wrong, for people.
    public var reason: String {
        get { content.value.reason }
        set { content.value.reason = newValue }
    }

    /// The response, if there was one.
    public var response: PipelineResponse? {
        get { content.value.response }
        set { content.value.response = newValue }
    }

    /// The status of the response; `nil` if the call failed without one.
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

extension PipelineError: SafelyDescribed, LocalizedError {
    /// Code, reason, where it arose, the request's method and host, and what came of the exchanges.
    public var description: String {
        var text = "\(code.rawValue): \(reason)"
        if let plugin, let stage { text += " (\(plugin), \(stage.rawValue))" }
        if let response, code != .unacceptableStatus { text += "; status \(response.statusCode)" }
        if let request { text += "; \(request.method) \(request.host ?? "")" }
        text += describedExchanges
        if let underlyingError, plugin == nil { text += "; underlying \(Self.name(of: underlyingError))" }
        return text
    }

    /// The outcomes of more than one exchange, the last ten of many, and why no further attempt was made.
    private var describedExchanges: String {
        guard let last = exchanges.last else { return "" }
        var text = ""
        if exchanges.count > 1 {
            let shown = exchanges.suffix(10)
            text += shown.count < exchanges.count ? "; \(exchanges.count) exchanges, the last: " : "; exchanges: "
            text += shown.map { $0.statusCode.map { "\($0)" } ?? $0.failure?.rawValue ?? "" }.joined(separator: ", ")
        }
        if let refusal = last.refusedRetry { text += "; not retried: \(refusal.rawValue)" }
        return text
    }

    /// ``customText``, else ``description``.
    public var errorDescription: String? { customText?.unlessBlank ?? description }
}
