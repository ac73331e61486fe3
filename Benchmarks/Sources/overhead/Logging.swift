import Foundation
import Logging
import Pipeline

/// A log handler that receives each line and discards it.
private struct NoHandler: LogHandler {
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { consume(event.message) }
}

/// A target with a query, and with a token if a plugin adds one.
private struct Search: TargetType, AccessTokenAuthorizable {
    var baseURL: URL { Shop.item(1).baseURL }
    var path: String { "/items/search" }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestParameters(parameters: ["page": 2, "q": "lamp"], encoding: URLEncoding.default) }
    var headers: [String: String]? { ["Accept": "application/json", "User-Agent": "shop/1.0"] }
    var sampleData: Data { Shop.item(1).sampleData }
    var authorizationType: AuthorizationType? { .bearer }
}

extension Overhead {
    /// Returns cases for a call with each form of logging, and for the same call without logging.
    static func logging() -> [Case] {
        let logger = Logger(label: "overhead") { _ in NoHandler() }
        let plugins: [(String, LoggingPlugin)] = [
            ("LoggingPlugin(level: .info)", LoggingPlugin { _, line in consume(line) }),
            ("LoggingPlugin(.summary)", LoggingPlugin(form: .summary) { _, line in consume(line) }),
            ("LoggingPlugin(level: .error)", LoggingPlugin(level: .error) { _, line in consume(line) }),
            ("LoggingPlugin(logger:)", LoggingPlugin(logger: logger)),
        ]
        let token = AccessTokenPlugin { _ in "2YotnFZFEjr1zCsicMWpAA" }
        var cases = plugins.map { request($0, plugins: [$1]) }
        cases.append(search("a token and a query, no logging", [token]))
        cases += plugins.map { search("a token and a query, \($0)", [$1, token]) }
        return cases
    }

    private static func search(_ name: String, _ plugins: [any PluginType]) -> Case {
        let provider = Provider<Search>(transport: StubTransport(), plugins: plugins)
        return Case(name) { count in
            for _ in 0..<count { consume(try await provider.request(Search())) }
        }
    }
}
