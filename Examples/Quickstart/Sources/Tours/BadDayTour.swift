import Foundation
import Pipeline
import PipelineAuth
import PipelineInspector
import PipelineRecording

/// A tour of plugins for a server that fails, responds slowly, refuses a token, or receives many equal requests.
struct BadDayTour {
    /// The provider that renews the token.
    ///
    /// Its calls do not pass through `TokenRefreshPlugin`.
    private let renewal: Provider<Archive>
    private let provider: Provider<Archive>
    private let endpoint: @Sendable (Archive) -> Endpoint

    init(origin: String, _ inspector: InspectorPlugin) {
        let endpoint: @Sendable (Archive) -> Endpoint = { Endpoint($0, at: origin) }
        let renewal = Provider<Archive>(
            transport: URLSessionTransport(),
            plugins: [inspector],
            configuration: .init(timeline: true),
            endpoint: endpoint
        )
        self.endpoint = endpoint
        self.renewal = renewal
        provider = Provider(
            transport: URLSessionTransport(),
            plugins: [
                inspector,
                MinimumDurationPlugin(.zero),
                RetryPlugin(backoff: .exponential(base: .milliseconds(50))),
                TokenRefreshPlugin(credential: Membership(accessToken: "stale-0123456789")) { _, _ in
                    let answer = try await renewal.request(
                        .renew(password: ArchiveServer.password),
                        as: ArchiveAnswer.self
                    )
                    return answer.token.map { Membership(accessToken: $0) }
                },
                DeduplicationPlugin(),
                GzipPlugin(requestCompression: .always),
            ],
            configuration: .init(timeline: true),
            endpoint: endpoint
        )
    }

    /// The two results that the example shows first.
    func runHeadlines() async throws {
        try await retry()
        try await share()
    }

    func run() async throws {
        try await compress()
        try await takeTime()
        try await refresh()
        try await log()
    }

    private func retry() async throws {
        heading("Retries: the server fails twice, and the call succeeds")
        let response = try await provider.request(.catalogue)
        show(response.exchanges)
        try expect(response.exchanges.map(\.statusCode) == [503, 503, 200], "the third attempt succeeds")
    }

    private func share() async throws {
        heading("Sharing: 100 equal calls at once, and one exchange")
        let provider = provider
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                group.addTask { try await provider.request(.report, as: ArchiveAnswer.self).count }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let exchanges = counts.max() ?? 0
        show("calls", "\(counts.count)")
        show("exchanges", "\(exchanges)")
        try expect(counts.count == 100 && exchanges == 1, "100 calls share one exchange")
    }

    private func compress() async throws {
        heading("A compressed upload and download: GzipPlugin")
        let text = String(repeating: "Es war einmal mitten im Winter, und die Schneeflocken fielen. ", count: 200)
        let answer = try await provider.request(.keep(text), as: ArchiveAnswer.self)
        show("text", "\(text.utf8.count) bytes")
        show("sent", "\(answer.byteCount) bytes in \(answer.coding)")
        try expect(answer.coding == "gzip" && answer.byteCount * 10 < text.utf8.count, "the text is sent compressed")

        let response = try await provider.request(.kept)
        let received = HTTPField.Name("X-Sent-Bytes").flatMap { response.headers[$0] } ?? "?"
        show("received", "\(received) bytes")
        show("decoded", "\(response.data.count) bytes")
        try expect(try response.mapString() == text, "the decoded text equals the original")
    }

    private func takeTime() async throws {
        heading("A response that is delayed until 400 ms have passed: MinimumDurationPlugin")
        let duration = try await ContinuousClock().measure {
            _ = try await provider.request(.kept, options: RequestOptions { $0.minimumDuration = .milliseconds(400) })
        }
        show("took", PipelineError.text(of: duration))
        try expect(duration >= .milliseconds(400), "the call takes at least 400 ms")
    }

    private func refresh() async throws {
        heading("20 calls with an expired token: TokenRefreshPlugin")
        let provider = provider
        let statuses = try await withThrowingTaskGroup(of: [Int?].self) { group in
            for _ in 0..<20 {
                // Without deduplication: shared calls would be refused and refreshed only once.
                let options = RequestOptions { $0.deduplication = .off }
                group.addTask { try await provider.request(.members, options: options).exchanges.map(\.statusCode) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let answer = try await renewal.request(.renew(password: ArchiveServer.password), as: ArchiveAnswer.self)
        show("401 at first", "\(statuses.count { $0.first == 401 })")
        show("200 at last", "\(statuses.count { $0.last == 200 })")
        show("refreshes", "\(answer.count - 1)")
        try expect(statuses.allSatisfy { $0.last == 200 } && answer.count == 2, "all calls succeed after one refresh")
    }

    private func log() async throws {
        heading("LoggingPlugin: a successful call and a failed one, logged at four levels")
        for level: LoggingPlugin.Level in [.error, .info, .debug, .trace] {
            let lines = LogLines()
            let logged = Provider<Archive>(
                transport: URLSessionTransport(),
                plugins: [LoggingPlugin(level: level) { _, line in lines.keep(line) }],
                endpoint: endpoint
            )
            _ = try await logged.request(.renew(password: ArchiveServer.password))
            _ = try? await logged.request(.renew(password: "hunter2hunter2"))
            for line in lines.all where level == .info { printLog(level, line) }
            show("\(level)", "\(lines.all.count) \(lines.all.count == 1 ? "entry" : "entries")")
            let secrets = [ArchiveServer.password, "hunter2hunter2", "fresh-0123456789"]
            try expect(!secrets.contains { lines.text.contains($0) }, "the log hides passwords and tokens")
        }
    }
}

/// The credential of a member.
private struct Membership: TokenCredential {
    let accessToken: String
    var expiry: Date? { nil }
}
