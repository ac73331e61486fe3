import PipelineCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#else
import Foundation
#endif

/// A transport that applies `URLRequest.timeoutInterval` to the wait for the header fields of a response.
///
/// The idle timeout of the request limits the waits that follow. For a file or a form, which may take longer to send,
/// only the limits of the wrapped transport apply before the header fields.
struct HeadTimeoutTransport: Transport {
    let wrapped: any Transport

    var name: String { wrapped.name }
    var capabilities: Set<PluginCapability> { wrapped.capabilities }
    var decodesContent: Bool { wrapped.decodesContent }
    var unsupportedSettings: [UnsupportedSetting] { wrapped.unsupportedSettings }

    func identity(for request: PipelineRequest) -> String? { wrapped.identity(for: request) }

    // The default of `enforcesIdleTimeout(_:)`, `false`, makes the core ask for a stream, whose head comes first.

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        guard let limit = context.options[CurrentMoyaCall.self]?.request.ownTimeout,
            ![.file, .multipart].contains(context.endpoint.task.kind)
        else { return try await wrapped.send(request, context: context) }
        return try await withThrowingTaskGroup(of: PipelineResponse?.self) { group in
            group.addTask { try await wrapped.send(request, context: context) }
            group.addTask {
                try await context.clock.sleep(until: context.clock.now.advanced(by: limit))
                return nil
            }
            defer { group.cancelAll() }
            guard let response = try await group.next() ?? nil else {
                throw PipelineError(.timeout(.head), "no header fields came within timeoutInterval, \(limit)")
            }
            return response
        }
    }
}
