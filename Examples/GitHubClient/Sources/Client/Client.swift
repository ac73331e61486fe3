import Foundation
import Pipeline
import PipelineCaching
import PipelineRecording
import PipelineResilience

/// The provider of a command, and where the command prints.
struct Client: Sendable {
    let provider: Provider<MultiTarget>
    let printer: Printer
    private let recorder: RecordingTransport?

    init(_ options: ClientOptions, from source: ClientOptions.Source, in environment: ProgramEnvironment) throws {
        printer = environment.printer
        var (server, configuration) = (options.server, environment.configuration)
        let transport: any Transport
        switch source {
        case .network:
            (transport, recorder) = (environment.makeTransport(), nil)
        case .recording(let file):
            let recording = try RecordingTransport(file, wrapping: environment.makeTransport(), mode: .recordNew)
            (transport, recorder) = (recording, recording)
        case .replay(let file):
            let replay = try file.map { try ReplayTransport($0, atEnd: .repeatLast) } ?? .bundled()
            (transport, recorder) = (replay, nil)
            server = server ?? replay.recording.server
        }
        configuration.coders = ProviderConfiguration.Coders(configureJSONDecoder: {
            $0.keyDecodingStrategy = .convertFromSnakeCase
        })
        let address = server.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        provider = Provider(
            transport: transport,
            // A recording contains no requests that depend on the cache of the user.
            plugins: [Self.plugins(options, isCachedOnDisk: source == .network, environment)],
            configuration: configuration
        ) { target in
            var endpoint = Endpoint(target)
            if let address {
                endpoint.url = endpoint.url.replacing(GitHubAPI.server, with: address, maxReplacements: 1)
            }
            return endpoint
        }
    }

    static func plugins(
        _ options: ClientOptions,
        isCachedOnDisk: Bool,
        _ environment: ProgramEnvironment
    ) -> PluginStack {
        let printer = environment.printer
        // Without a network, a retry would only delay the fallback.
        let policy = RetryPolicy { $0.error?.code.meansNoNetwork == true ? .giveBack : nil }
        let retry = RetryPlugin(policy: policy, backoff: environment.backoff)
        // GitHub restores a limit once an hour; a user waits for a minute at most.
        let limit = RateLimitPlugin(maximumWait: .seconds(60), maximumRetryAfter: .seconds(3_600))
        let folder = isCachedOnDisk ? environment.cacheFolder : nil
        let cache = folder.map { CachePlugin(store: DiskCacheStore($0)) } ?? CachePlugin()
        let standard = PluginStack.standard(
            .timeouts(TimeoutPlugin(attempt: .seconds(30), idle: .seconds(20))),
            .retries(retry),
            .rateLimit(limit),
            .cache(cache)
        ) {
            AccessTokenPlugin { _ in environment.token }
        }
        return PluginStack {
            LoggingPlugin(
                level: options.verbose ? .info : .off,
                redactor: Redactor(shownQueryNames: ["page", "per_page", "sort", "state"]),
                handler: { _, line in printer.error(line + "\n") }
            )
            standard.removing(LoggingPlugin.self)
            GitHubLimitPlugin { wait in
                printer.note("no requests remain; the next is possible in \(PipelineError.text(of: wait))")
            }
        }
    }

    /// Returns up to `limit` items of a list, and requests no more pages than they need.
    func items<Item: Decodable & Sendable>(
        of target: GitHubAPI,
        limit: Int,
        where isIncluded: (Item) -> Bool = { _ in true }
    ) async throws -> [Item] {
        var items: [Item] = []
        for try await page in provider.pages(MultiTarget(target), of: [Item].self) {
            items += page.filter(isIncluded)
            if items.count >= limit { break }
        }
        return Array(items.prefix(limit))
    }

    /// Writes the recording, if there is one.
    func finish() async throws { try await recorder?.finish() }
}
