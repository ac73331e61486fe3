import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("What the guides say is retried", .watched)
struct RetriedCodesTests {
    /// What the default policy does after an error of a GET.
    private enum Retry: Equatable { case never, ifRepeatable, anyMethod }

    private static func lines(of page: String) throws -> [String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        return Markdown(try String(contentsOf: root.appending(path: "Documentation/\(page).md"), encoding: .utf8)).lines
    }

    /// Returns what the default policy decides after an error without a response.
    private static func retry(after code: PipelineError.Code) -> Retry {
        let request = PipelineRequest(
            head: HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/")
        )
        func decision(wasSent: Bool) -> RetryPolicy.Decision {
            let failure = Result<PipelineResponse, PipelineError>.failure(PipelineError(code, "by test"))
            return RetryPolicy().decision(
                after: RetryPolicy.Outcome(request: request, result: failure, attempt: 1, wasSent: wasSent)
            )
        }
        if decision(wasSent: false) == .retryUnprocessed { return .anyMethod }
        return decision(wasSent: true) == .retry ? .ifRepeatable : .never
    }

    @Test("The guide ErrorCodes says of each code whether the default policy retries it")
    func codes() throws {
        let rows = try Self.lines(of: "ErrorCodes").compactMap {
            $0.firstMatch(of: #/^\| `([\w.]+)` \| [^|]+ \| (.+) \|$/#)
        }
        #expect(rows.count > 50)
        for row in rows where row.1 != "unacceptableStatus" {
            let noted: Retry =
                if row.2.hasPrefix("*Retried, any method*") {
                    .anyMethod
                } else {
                    row.2.hasPrefix("*Retried*") ? .ifRepeatable : .never
                }
            #expect(Self.retry(after: PipelineError.Code(rawValue: String(row.1))) == noted, "\(row.1)")
        }
    }

    @Test("The guide RetriesAndTimeouts lists the codes and statuses that the default policy retries")
    func table() throws {
        let lines = try Self.lines(of: "RetriesAndTimeouts")
        let start = try #require(lines.firstIndex(of: "| outcome of an attempt | retried by default |"))
        let rows = lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { $0.split(separator: "|") }
        #expect(rows.count == 3)
        let statuses = rows[0][0].matches(of: /\d+/).compactMap { Int($0.0) }
        #expect((100...599).filter(RetryPolicy().mayRetry) == statuses)
        let expected: [Retry] = [.ifRepeatable, .anyMethod]
        for (row, retry) in zip(rows.dropFirst(), expected) {
            for name in row[0].matches(of: /`([\w.]+)`/) {
                // A kind includes each of its codes.
                let code = name.1 == "connect" ? "connect.refused" : String(name.1)
                #expect(Self.retry(after: PipelineError.Code(rawValue: code)) == retry, "\(code)")
            }
        }
        let listed = Set(rows.dropFirst().flatMap { $0[0].matches(of: /`([\w.]+)`/).map { String($0.1) } })
        for row in try Self.lines(of: "ErrorCodes").compactMap({ $0.firstMatch(of: #/^\| `([\w.]+)` \|/#) }) {
            let isRetried = Self.retry(after: PipelineError.Code(rawValue: String(row.1))) != .never
            let kind = String(row.1.prefix { $0 != "." })
            #expect(isRetried == (listed.contains(String(row.1)) || listed.contains(kind)), "\(row.1)")
        }
    }
}
