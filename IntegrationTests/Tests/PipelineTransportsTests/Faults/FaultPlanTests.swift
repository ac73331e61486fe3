#if os(macOS) || os(Linux)
import Driving
import Foundation
import TestSupport
import Testing

/// The cases of the comparison of clients that state no time, see Comparisons/Faults.
@Suite(
    "Faults: the plan of the comparison of clients",
    .tags(.concurrent),
    .realTime,
    .watched,
    .enabled(if: FaultServer.isAvailable, "python3 is not installed")
)
struct FaultPlanTests {
    @Test("each case goes right over AsyncHTTPClient, without and with the resilient stack", arguments: [false, true])
    func asyncHTTPClient(isResilient: Bool) async throws {
        let server = try FaultServer([
            "cache", "coding", "connections", "cookies", "framing", "headers", "http2", "informational", "proxies",
            "redirects", "requests", "retry", "tls", "truncation",
        ])
        let wrong = try await wrongCases(of: server, without: []) { example in
            PipelineClient(example, usesURLSession: false, isResilient: isResilient)
        }
        #expect(wrong.isEmpty, "\(wrong)")
    }

    @Test("cases about plugins and redirects go right over URLSession", arguments: [false, true])
    func urlSession(isResilient: Bool) async throws {
        let server = try FaultServer(["cache", "cookies", "redirects", "retry"])
        // Foundation on Linux copies the body of a redirect for each piece that arrives.
        let slow = ["redirect-large-body", "redirect-bomb-body"]
        let wrong = try await wrongCases(of: server, without: ["proxy", "tls"], slow) { example in
            PipelineClient(example, usesURLSession: true, isResilient: isResilient)
        }
        #expect(wrong.isEmpty, "\(wrong)")
    }

    /// Runs the cases, eight at a time, and returns those that went wrong, each with its reason.
    private func wrongCases(
        of server: FaultServer,
        without features: Set<String>,
        _ excluded: [String] = [],
        open: @escaping @Sendable (Case) -> PipelineClient
    ) async throws -> String {
        let absent = features.union(["timeout", "cancel", "concurrency", "proxy-environment"])
        let cases = server.cases.filter { $0.needs.isDisjoint(with: absent) && !excluded.contains($0.id) }
        #expect(cases.count >= 50)
        let lines = try await withThrowingTaskGroup(of: Line.self) { group in
            var lines: [Line] = []
            for (index, example) in cases.enumerated() {
                if index >= 8, let line = try await group.next() { lines.append(line) }
                group.addTask { try await example.run(with: open(example)).untimed(of: example) }
            }
            return try await group.reduce(into: lines) { $0.append($1) }
        }
        return try server.judge(lines)
    }
}
#endif
