public import Foundation
import PipelineCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A plugin that logs requests and responses.
///
/// **Secrets**: values of Authorization, cookies and other fields that ``/Pipeline/Redactor`` covers are hidden, and so
/// are query items with such names. Bodies are logged as the formatter returns them.
@available(swift, deprecated: 7, message: "Use LoggingPlugin.")
public final class NetworkLoggerPlugin: PluginType {
    /// What is logged, and where.
    public var configuration: Configuration

    /// Creates a plugin with a configuration.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
    }

    /// A plugin that logs methods and header fields.
    public class var `default`: NetworkLoggerPlugin { NetworkLoggerPlugin() }

    /// A plugin that logs methods, header fields and bodies.
    public class var verbose: NetworkLoggerPlugin {
        NetworkLoggerPlugin(configuration: Configuration(logOptions: .verbose))
    }

    /// Logs the request before it is sent.
    public func willSend(_ request: any RequestType, target: any TargetType) {
        let configuration = configuration
        guard !configuration.logOptions.contains(.formatRequestAscURL) else {
            _ = request.cURLDescription { command in
                configuration.output(target, [configuration.formatter.entry("Request", command, target)])
            }
            return
        }
        configuration.output(target, configuration.entries(of: request, target))
    }

    /// Logs the response or the error.
    public func didReceive(_ result: Result<Moya.Response, MoyaError>, target: any TargetType) {
        let entries: [String]
        switch result {
        case .success(let response):
            entries = configuration.entries(of: response, isError: false, target)
        case .failure(let error):
            if let response = error.response {
                entries = configuration.entries(of: response, isError: true, target)
            } else {
                entries = [configuration.formatter.entry("Error", "Error calling \(target) : \(error)", target)]
            }
        }
        configuration.output(target, entries)
    }
}

extension NetworkLoggerPlugin.Configuration {
    fileprivate func entries(of request: any RequestType, _ target: any TargetType) -> [String] {
        guard let sent = request.request else { return [formatter.entry("Request", "(invalid request)", target)] }
        var entries = [formatter.entry("Request", Redactor.development.url(sent.url?.absoluteString ?? ""), target)]
        if logOptions.contains(.requestHeaders) {
            let fields = request.sessionHeaders.merging(sent.allHTTPHeaderFields ?? [:]) { $1 }
            entries.append(formatter.entry("Request Headers", Redactor.hidingSecrets(in: fields).description, target))
        }
        if logOptions.contains(.requestBody) {
            if let stream = sent.httpBodyStream {
                entries.append(formatter.entry("Request Body Stream", stream.description, target))
            }
            if let body = sent.httpBody {
                entries.append(formatter.entry("Request Body", formatter.requestData(body), target))
            }
        }
        if logOptions.contains(.requestMethod), let method = sent.httpMethod {
            entries.append(formatter.entry("HTTP Request Method", method, target))
        }
        return entries
    }

    fileprivate func entries(of response: Response, isError: Bool, _ target: any TargetType) -> [String] {
        let head = response.response?.description ?? "Received empty network response for \(target)."
        var entries = [formatter.entry("Response", head, target)]
        if logOptions.contains(isError ? .errorResponseBody : .successResponseBody) {
            entries.append(formatter.entry("Response Body", formatter.responseData(response.data), target))
        }
        return entries
    }
}

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
