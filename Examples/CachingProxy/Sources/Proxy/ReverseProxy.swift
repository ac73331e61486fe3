import Foundation
import Pipeline

/// A gateway that sends requests to one origin through a cache.
///
/// Source: RFC 9110 §7.6, https://www.rfc-editor.org/rfc/rfc9110.html#section-7.6
struct ReverseProxy: Sendable {
    private let origin: URL
    private let provider: Provider<ForwardedRequest>

    /// Makes a proxy.
    ///
    /// - Parameters:
    ///   - origin: the scheme, host and port of the origin.
    ///   - transport: sends requests to the origin.
    ///   - cache: the cache, or any other plugin in its place.
    init(origin: String, transport: any Transport, cache: any PluginType) {
        self.origin = Endpoint.url(origin)
        provider = Provider(
            transport: transport,
            plugins: [ForwardPlugin(), cache],
            // The client follows redirects; the proxy passes them on.
            configuration: ProviderConfiguration(redirects: .never)
        )
    }

    /// Returns the response of the cache or the origin, with a body that may still be arriving.
    func respond(to request: IncomingRequest) async -> OutgoingResponse {
        guard request.head.method != .connect, request.head.method != .trace else {
            return .text(.notImplemented, "The proxy does not support \(request.head.method).\n")
        }
        var request = request
        guard request.decrementMaxForwards(), request.head.path != "*" else { return .text(.ok, "") }
        do {
            let response = try await provider.stream(ForwardedRequest(request, origin: origin)).response
            var head = response.head
            head.headerFields.removeHopByHopFields()
            return OutgoingResponse(head: head, body: response.body)
        } catch {
            return Self.response(to: error)
        }
    }

    /// Returns 504 if the origin was too slow, and otherwise 502, with the code of the error.
    private static func response(to error: any Error) -> OutgoingResponse {
        guard let error = error as? PipelineError else { return .text(.badGateway, "502 Bad Gateway\n") }
        let status: HTTPResponse.Status =
            switch error.code {
            case .timeout: .gatewayTimeout
            case .invalidRequest: .badRequest
            default: .badGateway
            }
        return .text(status, "\(status): \(error.code)\n")
    }
}
