import HTTPTypes
public import Pipeline

extension LoggingPlugin {
    /// What a line is about, with everything secret hidden: what a formatter makes a line from.
    ///
    /// Parts are made when they are asked for. Those that ``kind`` does not have are `nil` or empty.
    public struct Event: Sendable, SafelyDescribed {
        /// What a line says.
        public struct Kind: Sendable, Hashable, CustomStringConvertible {
            /// The kind's name, as the members below are called.
            public let description: String

            /// A request is sent.
            public static let request = Kind(description: "request")
            /// Its header fields.
            public static let requestFields = Kind(description: "requestFields")
            /// The body that was sent, at the plugin's place, after the exchange.
            public static let requestBody = Kind(description: "requestBody")
            /// An answer, or that there was none.
            public static let response = Kind(description: "response")
            /// Its header fields.
            public static let responseFields = Kind(description: "responseFields")
            /// Its body, at the plugin's place.
            public static let responseBody = Kind(description: "responseBody")
            /// The call has ended, in the form `summary`.
            public static let summary = Kind(description: "summary")
            /// The call, or an attempt inside a plugin that retries, has failed or was cancelled.
            public static let failure = Kind(description: "failure")
        }

        /// What it is about.
        public let kind: Kind
        /// The level of its line.
        public let level: Level
        let message: Message

        private var context: PipelineContext { message.context }
        private var redactor: Redactor { message.redactor }

        /// The number of the call, from 1.
        public var callID: Int { context.callID }
        /// The attempt of the call, from 1.
        public var attempt: Int { message.attempt ?? context.attempt }
        /// The redirects before this exchange, from 0.
        public var hop: Int { context.hop }
        /// The method.
        public var method: String { redactor.text((message.request?.method ?? context.endpoint.method).rawValue) }
        /// The URL.
        public var url: String { message.request.map { redactor.url(of: $0) } ?? redactor.url(context.endpoint.url) }
        /// The status of the answer.
        public var statusCode: Int? { message.response?.statusCode ?? message.outcome?.statusCode }
        /// The code of the failure; none when it is the status.
        public var code: PipelineError.Code? { message.error?.code }
        /// What exactly went wrong, on one line.
        public var reason: String? { message.error.map { redactor.text($0.reason).onOneLine } }
        /// The plugin that threw, on one line.
        public var plugin: String? { message.error?.plugin.map { redactor.text($0).onOneLine } }
        /// The stage in which the plugin threw.
        public var stage: Stage.Kind? { message.error?.stage }
        /// How long it took: the exchange, or the call so far for a failure or a summary.
        public var duration: Duration? { message.duration }
        /// How many exchanges the call has had up to here.
        public var exchangeCount: Int { context.exchanges.count }
        /// Why a redirect was not followed.
        public var refusedRedirect: RedirectPolicy.Refusal? { message.exchange?.refusedRedirect }
        /// The bytes of the body, that of the response if there is one; `nil` if they are not known.
        public var byteCount: Int? {
            guard let outcome = message.outcome else { return messageBody.byteCount }
            return outcome.statusCode == nil ? nil : outcome.receivedByteCount
        }

        /// The header fields.
        public var fields: [(name: String, value: String)] {
            guard let request = message.request else { return [] }
            switch kind {
            case .requestFields: return redactor.fields(request.headers, isSecret: request.isSecret)
            case .responseFields:
                return redactor.fields(message.response?.headers ?? [:], isSecret: request.isSecret)
            default: return []
            }
        }

        /// The text of the body up to the limit, or what it is.
        public var body: String? {
            guard kind == .requestBody || kind == .responseBody else { return nil }
            guard let data = messageBody.bytes else { return "<\(messageBody)>" }
            if data.isEmpty { return "<none>" }
            let fields = kind == .requestBody ? message.request?.headers : message.response?.headers
            return redactor.bodyText(data, contentType: fields?[.contentType], limit: message.bodyLimit)
        }

        /// The request as a cURL command.
        public var curlCommand: String? {
            guard kind == .request else { return nil }
            return message.request?.curlCommand(redactor: redactor, bodyLimit: message.bodyLimit)
        }

        var messageBody: PipelineBody {
            if kind == .requestBody { return message.request?.body ?? .absent }
            return message.response?.body ?? (kind == .request ? message.request?.body : nil) ?? .absent
        }
    }
}

extension LoggingPlugin.Event {
    /// What events of one moment have in common.
    struct Message: Sendable {
        let context: PipelineContext
        let redactor: Redactor
        let bodyLimit: Int
        let form: LoggingPlugin.Form
        var request: PipelineRequest?
        var response: PipelineResponse?
        var error: PipelineError?
        /// The exchange that has ended.
        var exchange: PipelineExchange?
        /// How the call ended.
        var outcome: Stage.Outcome?
        /// The attempt, where it is not that of the context.
        var attempt: Int?
        var duration: Duration?
    }
}

extension String {
    /// Reasons and names come from plugins and targets, and may quote what a server sent.
    fileprivate var onOneLine: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .lineSeparator, .paragraphSeparator: " "
                    default: scalar
                    }
                }
            )
        )
    }
}
