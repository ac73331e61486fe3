public import Foundation

extension NetworkLoggerPlugin {
    /// What is logged, and where.
    public struct Configuration {
        /// Receives the entries of a request or a response.
        public typealias OutputType = (_ target: any TargetType, _ items: [String]) -> Void

        /// Makes texts of bodies and entries.
        public var formatter: Formatter
        /// Receives the entries of a request or a response.
        public var output: OutputType
        /// The parts that are logged.
        public var logOptions: LogOptions

        /// Creates a configuration that prints methods and header fields by default.
        public init(
            formatter: Formatter = Formatter(),
            output: @escaping OutputType = defaultOutput,
            logOptions: LogOptions = .default
        ) {
            self.formatter = formatter
            self.output = output
            self.logOptions = logOptions
        }

        /// Prints each entry on a line.
        public static func defaultOutput(target: any TargetType, items: [String]) {
            for item in items { print(item) }
        }
    }
}

extension NetworkLoggerPlugin.Configuration {
    /// The parts of requests and responses that are logged.
    public struct LogOptions: OptionSet, Sendable {
        /// The raw bits of the option set.
        public let rawValue: Int

        /// Creates options from their raw bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The method of a request.
        public static let requestMethod = LogOptions(rawValue: 1)
        /// The body of a request.
        public static let requestBody = LogOptions(rawValue: 2)
        /// The header fields of a request.
        public static let requestHeaders = LogOptions(rawValue: 4)
        /// The whole request as a cURL command, in place of its parts.
        public static let formatRequestAscURL = LogOptions(rawValue: 8)
        /// The body of a response that is a success.
        public static let successResponseBody = LogOptions(rawValue: 16)
        /// The body of a response that is an error.
        public static let errorResponseBody = LogOptions(rawValue: 32)

        /// The method and the header fields.
        public static let `default`: LogOptions = [.requestMethod, .requestHeaders]
        /// Everything, but not as a cURL command.
        public static let verbose: LogOptions = [
            .requestMethod, .requestHeaders, .requestBody, .successResponseBody, .errorResponseBody,
        ]
    }

    /// Closures that make texts of bodies and entries.
    public struct Formatter {
        /// Returns the text of a body.
        public typealias DataFormatterType = (Data) -> (String)
        /// Returns the text of an entry.
        public typealias EntryFormatterType = (
            _ identifier: String, _ message: String, _ target: any TargetType
        ) -> String

        /// Returns the text of an entry.
        public var entry: EntryFormatterType
        /// Returns the text of a request's body.
        public var requestData: DataFormatterType
        /// Returns the text of a response's body.
        public var responseData: DataFormatterType

        /// Creates a formatter; by default, bodies are shown as UTF-8.
        public init(
            entry: @escaping EntryFormatterType = defaultEntryFormatter,
            requestData: @escaping DataFormatterType = defaultDataFormatter,
            responseData: @escaping DataFormatterType = defaultDataFormatter
        ) {
            self.entry = entry
            self.requestData = requestData
            self.responseData = responseData
        }

        /// Returns the body as text, if it is UTF-8.
        public static func defaultDataFormatter(_ data: Data) -> String {
            String(data: data, encoding: .utf8) ?? "## Cannot map data to String ##"
        }

        /// Returns the message with the date and the name of the entry.
        public static func defaultEntryFormatter(
            identifier: String,
            message: String,
            target: any TargetType
        ) -> String {
            "Moya_Logger: [\(Date().formatted(date: .numeric, time: .shortened))] \(identifier): \(message)"
        }
    }
}
