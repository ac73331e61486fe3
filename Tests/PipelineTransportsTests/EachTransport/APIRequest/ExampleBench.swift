import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// A client as an app has it, with a server on a loopback address.
struct ExampleBench {
    static let token = #"{"token":"t-1","expires":"2001-09-09T01:46:40Z"}"#
    static let post = #"{"id":7,"text":"Hi","at":"2001-09-09T01:46:40Z"}"#

    let server: LoopbackServer
    var api: APIClient

    /// Responds with the script for the method and target, and to anything else with 404 and an empty object.
    init(
        _ transport: NetworkTransport,
        _ answers: [String: [LoopbackServer.Action]],
        plugins: [any PluginType] = []
    ) throws {
        try self.init(transport, plugins: plugins) { answers[$0.line] ?? [.respond(404, body: "{}")] }
    }

    init(
        _ transport: NetworkTransport,
        receiveBufferByteCount: Int? = nil,
        greeting: [LoopbackServer.Action] = [],
        plugins: [any PluginType] = [],
        handler: @escaping LoopbackServer.Handler
    ) throws {
        server = try LoopbackServer(
            receiveBufferByteCount: receiveBufferByteCount,
            greeting: greeting,
            handler: handler
        )
        let provider = Provider<MultiTarget>(
            transport: transport.make(),
            plugins: plugins,
            configuration: .init(random: .seeded(7))
        )
        api = APIClient(provider, server: server.serverURL)
    }

    /// The method and target of each request that arrived, in order.
    var lines: [String] { server.requests.map(\.line) }

    /// Waits until the server's activity satisfies a condition; the test ends if it never does.
    func wait(
        sourceLocation: SourceLocation = #_sourceLocation,
        until isSatisfied: (LoopbackServer.Activity) -> Bool
    ) async throws {
        await eventually(sourceLocation: sourceLocation) { isSatisfied(server.activity) }
    }

    /// The error that a request fails with, or `nil` if it succeeds.
    func failure<Output>(_ request: APIRequest<Output>) async throws -> PipelineError? {
        do {
            _ = try await api.send(request)
            return nil
        } catch let error as PipelineError {
            return error
        }
    }
}

extension LoopbackServer {
    /// The server's address as the examples' clients use it.
    var serverURL: ServerURL { ServerURL(base: url.absoluteString, path: "v1") }
}

extension LoopbackServer.Request {
    /// The method and target.
    var line: String { "\(method) \(target)" }

    var text: String { String(decoding: body, as: UTF8.self) }
}

extension APICall {
    /// Executes the call and waits until its last handler has run.
    func finished() async { await execute().value }
}

/// What happened, in order.
final class Diary: Sendable {
    private let lines = Mutex<[String]>([])

    var entries: [String] { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// A temporary folder that is deleted when the test releases it.
final class ExampleFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "examples-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String, _ data: Data) throws -> URL {
        let file = url.appending(path: name, directoryHint: .notDirectory)
        try data.write(to: file)
        return file
    }
}
