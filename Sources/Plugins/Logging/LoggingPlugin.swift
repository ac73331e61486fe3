public import Logging
public import Pipeline

/// Writes what happens to swift-log or to a closure, without secrets.
///
/// ```swift
/// LoggingPlugin(level: .info)
/// LoggingPlugin(level: .debug, redactor: Redactor(shownQueryNames: ["page"]))
/// LoggingPlugin(level: .trace, asCURL: true) { level, line in print("[\(level)] \(line)") }
/// ```
///
/// | level | what it adds |
/// |---|---|
/// | `off` | nothing is written |
/// | `error` | `#17 ✗ timeout.attempt: …, GET https://host/path?page=…, 2 exchanges, 1200 ms` for a call that failed |
/// | `info` | `#17 → GET https://host/path?page=…` and `#17 ← 200 GET https://host/path?page=… 12 ms, 345 bytes` |
/// | `debug` | the header fields of both, one line each |
/// | `trace` | the bodies of both |
///
/// `#17` is the number of the call; attempts after the first and redirects follow it, as in `#17 attempt 2 hop 1`.
///
/// **Position**: requests, answers and header fields are written as they are on the wire, wherever the plugin stands, once
/// per exchange. Failures and bodies are written as they are at the plugin's place: outside a plugin that retries, one line
/// for a call that failed in the end; inside it, one for each attempt; outside a plugin that decodes, decoded bodies.
///
/// **Effects**: changes nothing, keeps nothing. A body that is a stream or a file is described, never read. A line that
/// nobody wants is not made. A call failed when it ends in an error, or in a status that its target does not accept, or, of
/// a target that accepts any, in a status of 400 or above. A call that was cancelled has not failed: its line has the level
/// `info`. The option `avoidLogError` leaves both lines out for one call. Durations are those of the provider's clock. The
/// logger or handler runs on the way of the exchange, which waits for it; what it does cannot change a result.
///
/// **Defaults**
///
/// | setting | default | |
/// |---|---|---|
/// | `level` | `.info` | |
/// | `logger` | a logger `pipeline` that lets all lines of `level` pass | a logger of your own keeps its own level as well |
/// | `redactor` | `Redactor.standard` | |
/// | `bodyLimit` | 65,536 (64 KiB) | bytes of a body that are written, 0 and up; with 0 only the size is |
/// | `asCURL` | `false` | requests are written as cURL commands, instead of line, fields and body |
///
/// **Errors**: throws none, and passes every failure on.
///
/// **Secrets**: everything goes through the `redactor`, which shows header fields and query values by a list, and hides
/// passwords and tokens in bodies. The reasons of errors are written as they are; they hold no secret.
public struct LoggingPlugin: Stage.WillSend, Stage.DidReceive, Stage.Process {
    private enum Output: Sendable {
        case standard(Logger)
        case logger(Logger)
        case handler(@Sendable (Level, String) -> Void)
    }

    private let level: Level
    private let output: Output
    private let format: LogFormat

    /// Makes a plugin that writes to swift-log.
    ///
    /// - Parameters:
    ///   - level: how much is written.
    ///   - logger: where to; `nil` for a logger `pipeline` that lets all lines of `level` pass.
    ///   - redactor: what is shown.
    ///   - bodyLimit: the most bytes of a body that are written, 0 and up.
    ///   - asCURL: whether requests are written as cURL commands.
    public init(
        level: Level = .info,
        logger: Logger? = nil,
        redactor: Redactor = .standard,
        bodyLimit: Int = 64 << 10,
        asCURL: Bool = false
    ) {
        if let logger {
            self.init(level, .logger(logger), redactor, bodyLimit, asCURL)
        } else {
            self.init(level, .standard(Self.makeStandardLogger(level)), redactor, bodyLimit, asCURL)
        }
    }

    /// Makes a plugin that hands its lines to a closure.
    ///
    /// - Parameters:
    ///   - level: how much is written.
    ///   - redactor: what is shown.
    ///   - bodyLimit: the most bytes of a body that are written, 0 and up.
    ///   - asCURL: whether requests are written as cURL commands.
    ///   - handler: gets the level of each line, never above `level`, and the line. It must be quick.
    public init(
        level: Level = .info,
        redactor: Redactor = .standard,
        bodyLimit: Int = 64 << 10,
        asCURL: Bool = false,
        handler: @escaping @Sendable (_ level: Level, _ line: String) -> Void
    ) {
        self.init(level, .handler(handler), redactor, bodyLimit, asCURL)
    }

    private init(_ level: Level, _ output: Output, _ redactor: Redactor, _ bodyLimit: Int, _ asCURL: Bool) {
        precondition(bodyLimit >= 0, "bodyLimit is \(bodyLimit), not 0 or more")
        self.level = level
        self.output = output
        self.format = LogFormat(redactor: redactor, bodyLimit: bodyLimit, asCURL: asCURL)
    }

    static func makeStandardLogger(_ level: Level) -> Logger {
        var logger = Logger(label: "pipeline")
        logger.logLevel = level.logLevel
        return logger
    }

    /// Writes the request.
    public func willSend(_ request: PipelineRequest, context: PipelineContext) {
        write(.info, format.sent(request, context))
        if !format.asCURL { write(.debug, format.fields(of: request, context)) }
    }

    /// Writes the answer.
    public func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        write(.info, format.received(result, context))
        if case .success(let response) = result { write(.debug, format.fields(of: response, context)) }
    }

    /// Writes the failure and the bodies.
    public func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
        guard level > .off else { return }
        switch result {
        case .success(let response):
            writeRequestBody(of: response.request, context)
            write(.trace, format.responseBody(of: response, context))
            guard isFailure(response.statusCode, of: context.target), !context.options.avoidLogError else { return }
            write(.error, format.failure(response, context))
        case .failure(let error):
            if let request = error.request { writeRequestBody(of: request, context) }
            if let response = error.response { write(.trace, format.responseBody(of: response, context)) }
            guard !context.options.avoidLogError else { return }
            write(error.code == .cancelled ? .info : .error, format.failure(error, context))
        }
    }

    private func writeRequestBody(of request: PipelineRequest, _ context: PipelineContext) {
        guard !request.body.isNone, !format.asCURL else { return }
        write(.trace, format.requestBody(of: request, context))
    }

    private func isFailure(_ statusCode: Int, of target: any TargetType) -> Bool {
        target.validationType == .none ? statusCode >= 400 : !target.validationType.accepts(statusCode)
    }

    private func write(_ level: Level, _ line: @autoclosure () -> String) {
        guard level <= self.level else { return }
        switch output {
        case .standard(let logger), .logger(let logger): logger.log(level: level.logLevel, "\(line())")
        case .handler(let handler): handler(level, line())
        }
    }
}

extension LoggingPlugin: OrderChecking {
    /// Finds two that write the same lines to the default logger.
    public func findings(in surroundings: PluginSurroundings) -> [PipelineDescription.Finding] {
        let isDoubled =
            writesExchangesToStandard
            && surroundings.outside.contains {
                ($0 as? LoggingPlugin)?.writesExchangesToStandard ?? false
            }
        guard isDoubled else { return [] }
        return [
            .init(
                "LoggingPlugin stands twice with the default logger: each request and answer is written twice; "
                    + "lower one of them to level error or give it a logger of its own"
            )
        ]
    }

    private var writesExchangesToStandard: Bool {
        guard case .standard = output else { return false }
        return level >= .info
    }
}
