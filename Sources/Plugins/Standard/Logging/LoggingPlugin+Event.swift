import HTTPTypes
public import PipelineCore

extension LoggingPlugin {
    /// The content of a log line with all secrets hidden, from which a formatter makes the line.
    ///
    /// Properties are computed on access. Those that do not apply to ``kind`` are `nil` or empty.
    public struct Event: Sendable, SafelyDescribed {
        /// The kind of a log line.
        public struct Kind: Sendable, Hashable, CustomStringConvertible {
            /// The name of the kind, the same as that of its static member.
            public let description: String

            /// A request that is sent.
            public static let request = Kind(description: "request")
            /// The header fields of a request.
            public static let requestFields = Kind(description: "requestFields")
            /// The body that was sent, as it is at the plugin's position, written after the exchange.
            public static let requestBody = Kind(description: "requestBody")
            /// A response, or the lack of one.
            public static let response = Kind(description: "response")
            /// The header fields of a response.
            public static let responseFields = Kind(description: "responseFields")
            /// The body of a response, as it is at the plugin's position.
            public static let responseBody = Kind(description: "responseBody")
            /// The end of the call, in the form `summary`.
            public static let summary = Kind(description: "summary")
            /// A failure or cancellation of the call, or of an attempt inside a plugin that retries.
            public static let failure = Kind(description: "failure")
        }

        /// The kind of the line.
        public let kind: Kind
        /// The level of the line.
        public let level: Level
        let message: Message

        var context: PipelineContext { message.context }
        private var redactor: Redactor { message.redactor }

        /// The number of the call, from 1.
        public var callID: Int { context.callID }
        /// The attempt of the call, from 1.
        public var attempt: Int { message.attempt ?? context.attempt }
        /// The number of redirects before this exchange, from 0.
        public var hop: Int { context.hop }
        /// The method of the request.
        public var method: String { redactor.text((message.request?.method ?? context.endpoint.method).rawValue) }
        /// The host and port of the request; `nil` if no request was made.
        var host: String? { message.request?.host.map(redactor.text) }
        /// The URL of the request.
        public var url: String { message.request.map { redactor.url(of: $0) } ?? redactor.url(context.endpoint.url) }
        /// The status code of the response.
        public var statusCode: Int? { message.response?.statusCode ?? message.outcome?.statusCode }
        /// The code of the failure; `nil` if the call failed because of its status.
        public var code: PipelineError.Code? { message.error?.code }
        /// The reason for the failure, on one line.
        public var reason: String? { message.error.map { redactor.text($0.reason).onOneLine } }
        /// The name of the plugin that threw, on one line.
        public var plugin: String? { message.error?.plugin.map { redactor.text($0).onOneLine } }
        /// The stage in which the plugin threw.
        public var stage: Stage.Kind? { message.error?.stage }
        /// The duration of the exchange, or of the call so far for a failure or a summary.
        public var duration: Duration? { message.duration }
        /// The number of exchanges that the call has had so far.
        public var exchangeCount: Int { context.exchanges.count }
        /// What plugins did to the call, or in the attempt and hop of the exchange.
        public var annotations: [PipelineContext.Annotation] {
            message.outcome?.annotations ?? message.exchange?.annotations
                ?? (kind == .failure ? context.annotations : [])
        }
        /// Why a redirect was not followed.
        public var refusedRedirect: RedirectPolicy.Refusal? { message.exchange?.refusedRedirect }
        /// The number of bytes in the body, of the response's body if there is a response; `nil` if it is not known.
        public var byteCount: Int? {
            guard let outcome = message.outcome else { return messageBody.byteCount }
            return outcome.statusCode == nil ? nil : outcome.receivedByteCount
        }

        /// The header fields of the request or the response, by ``kind``.
        public var fields: [(name: String, value: String)] {
            guard let request = message.request else { return [] }
            switch kind {
            case .requestFields: return redactor.fields(request.headers, isSecret: request.isSecret)
            case .responseFields:
                return redactor.fields(message.response?.headers ?? [:], isSecret: request.isSecret)
            default: return []
            }
        }

        /// The text of the body up to the limit, or a description if the body cannot be shown as text.
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
    /// What the events of one moment have in common.
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
        /// The attempt, if it differs from that of the context.
        var attempt: Int?
        var duration: Duration?
    }
}

extension String {
    /// Replaces line breaks and control characters with spaces, because the text may quote a server.
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
