import Foundation
import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineTelemetry

/// A body of a given size, requested by a numbered task with the header fields of a typical app.
struct Page: TargetType, AccessTokenAuthorizable {
    let byteCount: Int
    let number: Int

    private static let base = URL(string: Nginx.url) ?? URL(filePath: "/")

    /// All header fields of a request, for sides without plugins.
    static let fields = [
        "Accept": "application/json",
        "User-Agent": "shop/1.0",
        "Accept-Language": "en",
        "Accept-Encoding": "gzip, deflate",
        "X-Request-ID": "8a4f4c2e-1d5b-4c7a-9a53-2f9f6f0c1b7e",
        "Authorization": "Bearer \(token)",
    ]
    static let token = "2YotnFZFEjr1zCsicMWpAA"

    var baseURL: URL { Self.base }
    var path: String { Nginx.path(byteCount, number) }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
    var headers: [String: String]? { ["Accept": "application/json", "User-Agent": "shop/1.0"] }
    var authorizationType: AuthorizationType? { .bearer }

    /// The plugins of a typical app.
    ///
    /// With them, a request carries the fields above.
    static var plugins: [any PluginType] {
        [
            LoggingPlugin(level: .error) { _, line in print(line) },
            RequestIDPlugin(),
            HeadersPlugin(["Accept-Language": "en"]),
            RetryPlugin(),
            AccessTokenPlugin { _ in token },
            GzipPlugin(),
        ]
    }

    /// The standard stack with credentials and a header field.
    static var standard: [any PluginType] {
        [
            .standard {
                AccessTokenPlugin { _ in token }
                HeadersPlugin(["Accept-Language": "en"])
            }
        ]
    }

    /// The stack of a server: as above, with a breaker, limits, a cache, cookies, and spans that nothing receives.
    static var everything: [any PluginType] {
        [
            .standard(.resilient, .cache(), .cookies(), .telemetry) {
                AccessTokenPlugin { _ in token }
                HeadersPlugin(["Accept-Language": "en"])
            }
        ]
    }

    /// A plugin that logs two lines per call, and plugins for two header fields.
    static var logging: [any PluginType] {
        [
            LoggingPlugin(level: .info) { _, line in consume(line) },
            HeadersPlugin(["Accept-Language": "en"]),
            HeadersPlugin(["X-Request-ID": fields["X-Request-ID"]]),
        ]
    }
}

/// The same page, requested by a target that sets all fields itself.
struct PlainPage: TargetType {
    let page: Page

    var baseURL: URL { page.baseURL }
    var path: String { page.path }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
    var headers: [String: String]? { Page.fields }
}

/// The same page with a query of its own.
struct MissedPage: TargetType, AccessTokenAuthorizable {
    let page: Page
    let query: Int

    var baseURL: URL { page.baseURL }
    var path: String { page.path }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestQuery(["n": query]) }
    var headers: [String: String]? { page.headers }
    var authorizationType: AuthorizationType? { .bearer }
}
