import Driving
import Foundation

/// The driver of Pipeline: `pipeline-driver async-http-client|url-session plain|resilient`.
///
/// `plain` has only the plugins that a case needs, `resilient` the stack `.standard(.resilient)`.
@main
struct Main {
    static func main() async throws {
        let usesURLSession = CommandLine.arguments.contains("url-session")
        let isResilient = CommandLine.arguments.contains("resilient")
        var features = [
            "http1", "proxy-environment", "cookies", "cache", "sse", "decode", "timeout", "cancel", "retry",
            "concurrency", "limit", "fields", "redirects",
        ]
        if !usesURLSession { features += ["proxy"] }
        if !usesURLSession || SystemAuthorities.areReplaceable { features += ["tls", "http2"] }
        let driver = Driver(version: version(usesURLSession), features: features) { example in
            if usesURLSession { SystemAuthorities.replace(for: example) }
            return PipelineClient(example, usesURLSession: usesURLSession, isResilient: isResilient)
        }
        try await driver.run()
    }

    private static func version(_ usesURLSession: Bool) -> String {
        let commit = (try? String(contentsOfFile: "environment/commit", encoding: .utf8)) ?? "of an unknown commit"
        let transport =
            usesURLSession
            ? "Foundation of Swift \(Driver.swiftVersion)"
            : "AsyncHTTPClient \(Driver.version(of: "async-http-client"))"
        return "Pipeline \(commit.trimmingCharacters(in: .newlines)) (\(transport))"
    }
}
