import HTTPTypes
public import Logging
public import PipelineCore

/// A plugin that logs calls to swift-log or to a closure, without secrets.
///
/// ```swift
/// LoggingPlugin(level: .info)
/// LoggingPlugin(level: .info, form: .summary)
/// LoggingPlugin(level: .debug, redactor: Redactor(shownQueryNames: ["page"], secretValues: [apiKey]))
/// LoggingPlugin(level: .trace, form: .curl) { level, line in print("[\(level)] \(line)") }
/// LoggingPlugin(level: .trace, formatter: { $0.kind == .requestBody ? nil : "\($0.callID) \($0.url)" })
/// ```
///
/// **Effects**
///
/// | level | what it adds |
/// |---|---|
/// | `off` | nothing is written |
/// | `error` | `#17 ✗ timeout.attempt: …, GET https://host/path?page=…, 1200 ms, 2 exchanges` for a call that failed |
/// | `info` | `#17 → GET https://host/path?page=…` and `#17 ← 200 GET https://host/path?page=… 12 ms, 345 bytes` |
/// | `info`, `.summary` | instead, `#17 200 GET https://host/path?page=… 123 ms, 2 exchanges, 345 bytes` for a call that did not fail |
/// | `debug` | the header fields of both, one line each |
/// | `trace` | the bodies of both |
///
/// `#17` is the number of the call. Attempts after the first, and redirects, follow it, both counted from 1, as in
/// `#17 attempt 2, redirect 1`.
///
/// - Changes nothing. A body that is a stream or a file is described, never read. A body that is not text is written as
///   its size and type. Lines that are not written are not built.
/// - A call failed if it ends in an error or in a status that its target does not accept, as in `✗ unacceptableStatus
///   503`. If the target accepts any status, 400 and above are failures, as in `✗ status 503`. If you expect a status
///   such as 404, include it in the target's `validationType`, such as `.customCodes([200, 404])`, or set the option
///   `avoidLogError`.
/// - Writes the line of a failure when the failure passes the plugin. Four kinds of failure are written when the call
///   ends: a value that the provider cannot decode, a stream that breaks, a call that was cancelled before it began,
///   and a failure from a plugin further outside. Such a failure has no line of its own if the last attempt has one.
/// - Of the calls that a plugin refused before anything was sent, such as with `circuitOpen` or `limit.rate`, one in
///   10 s for each host and code has a line of the level `error`, and the others have one of the level `info`. The line
///   of the failure that opened a circuit ends with `CircuitBreakerPlugin opened`.
/// - A cancelled call has not failed: its line has the level `info`. This includes a stream that is released before its
///   end.
/// - Writes a summary when the call ends; for a stream, when its body ends.
/// - The option `avoidLogError` leaves out the lines of failures and cancellations for one call. In the form `summary`,
///   the call then has a summary. The option `logLevel` replaces the level for one call.
/// - A formatter makes each line from an ``Event``, or leaves it out.
/// - Measures durations on the provider's clock.
/// - Runs the logger or handler within the call, which waits for it. It cannot change the result.
///
/// **Defaults**
///
/// | setting | default | |
/// |---|---|---|
/// | `level` | `.info` | |
/// | `logger` | a logger `pipeline` that lets all lines pass | a logger of your own also applies its own level, and gets metadata, see below |
/// | `redactor` | `Redactor.standard` | |
/// | `bodyLimit` | 65,536 (64 KiB) | bytes of a body that are written, 0 and up; with 0, only the size |
/// | `form` | `.lines` | `.curl`: requests are written as cURL commands, instead of line, fields and body; `.summary` |
/// | `formatter` | the event's `description` | |
///
/// **Metadata** of a logger of your own: `call`, `attempt`, `event`, `method`, `host`; and if known, `template` (the
/// target's `pathTemplate`), `hop`, `status`, `code`, and `duration` in seconds. To leave out of the line what the
/// metadata has, use the formatter `{ $0.reason ?? "\($0.kind)" }`.
///
/// **Position**
///
/// - Requests, responses and header fields are written as they are on the wire, once per exchange, at any position.
/// - Bodies are written as they are at the plugin's position: outside a plugin that decodes them, decoded.
/// - Outside a plugin that retries, a call that failed in the end has one line. Inside it, each failed attempt has one.
///
/// **Errors**: throws none. Failures pass through unchanged.
///
/// **Secrets**: everything goes through the `redactor`. It shows only the header fields and query values on its lists,
/// and hides passwords and tokens in bodies. Its declared values are hidden in the whole line, including reasons of
/// errors and the text of a formatter. In the lines of a call, values of 8 bytes or more in its secret header fields
/// and cookies are hidden, too.
public struct LoggingPlugin: Stage.WillSend, Stage.DidReceive, Stage.Process, Stage.DidFinish, CapabilityDeclaring,
    WarningReporting
{
    enum Output: Sendable {
        case standard(Logger)
        case logger(Logger)
        case handler(@Sendable (Level, String) -> Void)
    }

    private let makeLevel: @Sendable () -> Level
    var level: Level { makeLevel() }
    let output: Output
    private let redactor: Redactor
    private let bodyLimit: Int
    let form: Form
    private let formatter: (@Sendable (Event) -> String?)?
    /// Distinguishes what this plugin remembers about a call from what another one does.
    let identity = Identity()
    private let refusals = RefusalLines()

    /// Creates a plugin that writes to swift-log or to a closure.
    ///
    /// - Parameters:
    ///   - level: how much is written.
    ///   - logger: the logger to write to; `nil` for a logger `pipeline` that lets all lines pass. Ignored if there is
    ///     a handler.
    ///   - redactor: decides what is shown and what is hidden.
    ///   - bodyLimit: the most bytes of a body that are written, 0 and up.
    ///   - form: which lines are written for a call.
    ///   - handler: gets each line and its level in place of a logger; `nil` for a logger. The level is never above
    ///     `level` or the call's own. It must return quickly.
    ///   - formatter: returns the line for an event, or `nil` to leave it out. If the formatter is `nil`, the line is
    ///     the event's `description`.
    public init(
        level: Level = .info,
        logger: Logger? = nil,
        redactor: Redactor = .standard,
        bodyLimit: Int = 64 << 10,
        form: Form = .lines,
        handler: (@Sendable (_ level: Level, _ line: String) -> Void)? = nil,
        formatter: (@Sendable (Event) -> String?)? = nil
    ) {
        self.init({ level }, logger, redactor, bodyLimit, form, handler, formatter)
    }

    /// Creates a plugin that reads its level at each event, so that the level can change while the program runs.
    ///
    /// ```swift
    /// LoggingPlugin(level: { settings.isVerbose ? .debug : .error })
    /// ```
    ///
    /// - Parameters:
    ///   - level: returns how much is written. It must return quickly. A call's own `logLevel` overrides it.
    ///   - logger: the logger to write to; `nil` for a logger `pipeline` that lets all lines pass. Ignored if there is
    ///     a handler.
    ///   - redactor: decides what is shown and what is hidden.
    ///   - bodyLimit: the most bytes of a body that are written, 0 and up.
    ///   - form: which lines are written for a call.
    ///   - handler: gets each line and its level in place of a logger; `nil` for a logger. The level is never above
    ///     `level` or the call's own. It must return quickly.
    ///   - formatter: returns the line for an event, or `nil` to leave it out. If the formatter is `nil`, the line is
    ///     the event's `description`.
    public init(
        level: @escaping @Sendable () -> Level,
        logger: Logger? = nil,
        redactor: Redactor = .standard,
        bodyLimit: Int = 64 << 10,
        form: Form = .lines,
        handler: (@Sendable (_ level: Level, _ line: String) -> Void)? = nil,
        formatter: (@Sendable (Event) -> String?)? = nil
    ) {
        self.init(level, logger, redactor, bodyLimit, form, handler, formatter)
    }

    private init(
        _ level: @escaping @Sendable () -> Level,
        _ logger: Logger?,
        _ redactor: Redactor,
        _ bodyLimit: Int,
        _ form: Form,
        _ handler: (@Sendable (Level, String) -> Void)?,
        _ formatter: (@Sendable (Event) -> String?)?
    ) {
        precondition(bodyLimit >= 0, "bodyLimit is \(bodyLimit), not 0 or more")
        makeLevel = level
        let written = logger.map { Output.logger($0) } ?? .standard(Self.makeStandardLogger())
        output = handler.map { Output.handler($0) } ?? written
        self.redactor = redactor
        self.bodyLimit = bodyLimit
        self.form = form
        self.formatter = formatter
    }

    /// Lets all lines pass, because the plugin decides what is written and a call may have its own level.
    static func makeStandardLogger() -> Logger {
        var logger = Logger(label: "pipeline")
        logger.logLevel = .trace
        return logger
    }

    // MARK: Stages

    /// Writes the request, and from level `debug` its header fields.
    public func willSend(_ request: PipelineRequest, context: PipelineContext) {
        let level = level(of: context)
        guard form.exchangeLevel <= level else { return }
        let message = message(context, request: request)
        write(.request, at: form.exchangeLevel, message)
        if form != .curl, .debug <= level { write(.requestFields, at: .debug, message) }
    }

    /// Writes the response or its absence, and from level `debug` its header fields.
    public func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        let level = level(of: context)
        guard .error <= level else { return }
        if case .success(let response) = result, response.headers.contains(where: { $0.name == .setCookie }) {
            let cookies = response.headers[fields: .setCookie]
            context.update(ReceivedCookies.self) { $0.append(contentsOf: cookies) }
        }
        guard form.exchangeLevel <= level else { return }
        let exchange = context.exchange
        var message = message(context, request: exchange?.request ?? result.request, result, of: exchange)
        message.duration = exchange?.duration
        write(.response, at: form.exchangeLevel, message)
        if case .success = result, .debug <= level { write(.responseFields, at: .debug, message) }
    }

    /// Writes the bodies and, if the attempt failed, its failure.
    public func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
        let level = level(of: context)
        guard .error <= level else { return }
        let events = events(of: result, upTo: level, context)
        remember(result, hasLine: events.last?.kind == .failure, context)
        guard !events.isEmpty else { return }
        var message = message(context, request: result.request, result)
        message.duration = context.start.duration(to: context.clock.now)
        for event in events { write(event.kind, at: event.level, message) }
    }

    /// Returns the events to write.
    private func events(
        of result: Result<PipelineResponse, PipelineError>,
        upTo level: Level,
        _ context: PipelineContext
    ) -> [(kind: Event.Kind, level: Level)] {
        var events: [(kind: Event.Kind, level: Level)] = []
        if result.response?.source == .cache, form.exchangeLevel <= level {
            events.append((.response, form.exchangeLevel))
        }
        if .trace <= level {
            if form != .curl, let request = result.request, !request.body.isAbsent {
                events.append((.requestBody, .trace))
            }
            if result.response != nil { events.append((.responseBody, .trace)) }
        }
        if let failure = failureLevel(result.error, result.response?.statusCode, context), failure <= level {
            events.append((.failure, failure))
        }
        return events
    }

    /// Returns the level for the line of a failed or cancelled call; `nil` if the call did not fail or its line is left
    /// out.
    func failureLevel(_ error: PipelineError?, _ statusCode: Int?, _ context: PipelineContext) -> Level? {
        if context.options.avoidLogError { return nil }
        if let error {
            if error.code == .cancelled { return .info }
            guard error.isRefusal, context.exchanges.isEmpty else { return .error }
            return refusals.isFirst(error, context) ? .error : .info
        }
        guard let statusCode else { return nil }
        let accepted = context.validationType
        return (accepted == .anyStatus ? statusCode < 400 : accepted.accepts(statusCode)) ? nil : .error
    }

    // MARK: Writing

    /// Returns the level up to which lines of a call are written, so that no others are built.
    func level(of context: PipelineContext) -> Level {
        let level = context.options.logLevel ?? level
        guard case .logger(let logger) = output else { return level }
        return min(level, .upTo(logger.logLevel))
    }

    func message(
        _ context: PipelineContext,
        request: PipelineRequest?,
        _ result: Result<PipelineResponse, PipelineError>? = nil,
        of exchange: PipelineExchange? = nil
    ) -> Event.Message {
        let cookies = context[ReceivedCookies.self]
        return Event.Message(
            context: context,
            redactor: redactor.adding(
                secretsOf: requests(of: context, and: exchange == nil ? request : nil),
                answer: cookies.isEmpty ? [:] : HTTPFields(cookies)
            ),
            bodyLimit: bodyLimit,
            form: form,
            request: request,
            response: result?.response,
            error: result?.error,
            exchange: exchange
        )
    }

    /// Returns the requests of the exchanges so far and one more, in an array of the right size.
    private func requests(of context: PipelineContext, and request: PipelineRequest?) -> [PipelineRequest] {
        let exchanges = context.exchanges
        var requests: [PipelineRequest] = []
        requests.reserveCapacity(exchanges.count + 1)
        for exchange in exchanges { requests.append(exchange.request) }
        if let request { requests.append(request) }
        return requests
    }

    func write(_ kind: Event.Kind, at level: Level, _ message: Event.Message) {
        let event = Event(kind: kind, level: level, message: message)
        switch output {
        case .standard(let logger):
            if let line = line(of: event) { logger.log(level: level.logLevel, .init(stringLiteral: line)) }
        case .logger(let logger):
            guard let line = line(of: event) else { return }
            logger.log(level: level.logLevel, .init(stringLiteral: line), metadata: event.metadata)
        case .handler(let handler):
            if let line = line(of: event) { handler(level, line) }
        }
    }

    private func line(of event: Event) -> String? {
        guard let formatter else { return event.message.redactor.text(event.description) }
        return formatter(event).map(event.message.redactor.text)
    }
}

/// The Set-Cookie fields of all responses of the call.
///
/// A later exchange may have their values in its URL or its body.
private enum ReceivedCookies: PipelineContext.Key {
    static let defaultValue: [HTTPField] = []
}
