import Foundation
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
