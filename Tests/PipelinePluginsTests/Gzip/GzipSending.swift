import Foundation
import Pipeline
import PipelineTesting
import Testing

/// A suite that checks requests as they are sent.
protocol GzipSending {
    var transport: ScriptedTransport { get }
}

extension GzipSending {
    func sent(
        _ task: RequestTask,
        _ plugins: [any PluginType] = [GzipPlugin(requestCompression: .always)],
        headers: [String: String]? = nil,
        options: RequestOptions = .init(),
        on other: ScriptedTransport? = nil
    ) async throws -> PipelineRequest {
        let transport = other ?? transport
        let provider = Provider<Ask>(transport: transport, plugins: plugins)
        _ = try await provider.request(Ask(method: .post, task: task, headers: headers), options: options)
        return try #require(transport.sent.last)
    }

    func coded(_ request: PipelineRequest) async throws -> Data {
        try await request.body.collect(upTo: 1 << 20)
    }
}
