import Foundation
import Pipeline

/// The transfers of bodies over loopback, to and from a server in another process.
struct NetworkTransfer: Sendable {
    /// The number of times that a reader pauses within a body, for one second each.
    private static let pauseCount = 2

    let transport: any Transport
    let server: URL
    let files: Files

    /// Returns the cases.
    ///
    /// Each has a name, and `judges` decides whether its memory is judged.
    func all(_ name: String, judges: @Sendable (String) -> Bool) -> [Transfer] {
        let cases: [(String, @Sendable (Int) async throws -> Void)] = [
            ("stream, reader pauses", { try await read($0, plugins: [], path: "/send/\($0)") }),
            ("stream, decoded and logged", { try await read($0, plugins: Self.decoding, path: "/gzip") }),
            ("download to a file", { try await download($0) { _ = try await $0.request($1) } }),
            ("download, watched", { try await download($0) { for try await _ in $0.requestWithProgress($1) {} } }),
            ("upload of a file", { try await upload(.uploadFile(files.source($0)), $0) }),
            ("upload of a file, watched", { try await upload(.uploadFile(files.source($0)), $0, isWatched: true) }),
            (
                "upload of a stream, server pauses",
                { try await upload(.requestStream(.stream(Zeros(byteCount: $0))), $0, Self.pauseCount) }
            ),
            (
                "form with the file, server pauses",
                { try await upload(.uploadMultipartFormData(files.form($0)), $0, Self.pauseCount) }
            ),
        ]
        return cases.map { Transfer(name: "\(name): \($0.0)", isJudged: judges($0.0), run: $0.1) }
    }

    private static let decoding: [any PluginType] = [
        LoggingPlugin(level: .debug) { _, _ in },
        GzipPlugin(),
    ]

    private func target(
        _ path: String,
        _ method: HTTPRequest.Method = .get,
        _ task: RequestTask = .requestPlain
    ) -> Large {
        Large(method: method, task: task, baseURL: server, path: path)
    }

    private func read(_ byteCount: Int, plugins: [any PluginType], path: String) async throws {
        let provider = Provider<Large>(transport: transport, plugins: plugins)
        var count = 0
        var pauseCount = 0
        for try await piece in try await provider.stream(target(path)).body {
            count += piece.count
            if count >= byteCount { break }
            if byteCount > 1 << 20, pauseCount < Self.pauseCount,
                count > byteCount / (Self.pauseCount + 1) * (pauseCount + 1)
            {
                pauseCount += 1
                try await Task.sleep(for: .seconds(1))
            }
        }
        guard count >= byteCount else { throw Transfer.Failure() }
    }

    private func download(
        _ byteCount: Int,
        perform: (Provider<Large>, Large) async throws -> Void
    ) async throws {
        let destination = files.destination
        defer { try? FileManager.default.removeItem(at: destination) }
        let task = RequestTask.downloadDestination(.file(destination, options: .removePreviousFile))
        try await perform(Provider<Large>(transport: transport), target("/send/\(byteCount)", .get, task))
        guard try Files.size(of: destination) == byteCount else { throw Transfer.Failure() }
    }

    private func upload(_ task: RequestTask, _ byteCount: Int, _ pauses: Int = 0, isWatched: Bool = false) async throws
    {
        let provider = Provider<Large>(transport: transport)
        let target = target("/count/\(byteCount)/\(byteCount > 1 << 20 ? pauses : 0)", .post, task)
        var response: PipelineResponse?
        if isWatched {
            for try await step in provider.requestWithProgress(target) { response = step.response }
        } else {
            response = try await provider.request(target)
        }
        guard let received = Int(try response?.mapString() ?? ""), received >= byteCount else {
            throw Transfer.Failure()
        }
    }
}
