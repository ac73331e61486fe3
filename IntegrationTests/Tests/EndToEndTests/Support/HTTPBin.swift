import Foundation
import Pipeline
import Testing

/// The server that `scripts/httpbin` starts.
enum HTTPBin {
    /// The server's address, or `nil` in a plain `swift test`.
    static let address = ProcessInfo.processInfo.environment["HTTPBIN_URL"]

    static let url = address.flatMap { URL(string: $0) } ?? URL(filePath: "/")

    /// The same server as another origin, by another name of the machine.
    static var otherOrigin: String { "http://localhost:\(url.port ?? 0)" }
}

extension Trait where Self == ConditionTrait {
    /// Runs a suite only if there is a server.
    static var besideHTTPBin: Self {
        .enabled(if: HTTPBin.address != nil, "scripts/httpbin sets HTTPBIN_URL")
    }
}

/// A target of httpbin, by default a GET without a body.
protocol HTTPBinTarget: TargetType {}

extension HTTPBinTarget {
    var baseURL: URL { HTTPBin.url }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
}
