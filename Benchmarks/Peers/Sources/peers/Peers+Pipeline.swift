import Foundation
import Pipeline

/// A page, requested with all header fields or with none.
private struct Page: TargetType {
    let byteCount: Int
    let number: Int
    let headers: [String: String]?

    private static let base = URL(string: Nginx.url) ?? URL(filePath: "/")
    static let fields = Dictionary(uniqueKeysWithValues: Peers.fields.map { ($0.name.rawName, $0.value) })

    var baseURL: URL { Self.base }
    var path: String { Nginx.path(byteCount, number) }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
}

private struct PrepareField: Stage.Prepare {
    let field: HTTPField

    func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        request.headers[field.name] = field.value
    }
}

private struct InterceptField: Stage.Intercept {
    let field: HTTPField

    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        var request = request
        request.headers[field.name] = field.value
        return try await next(request)
    }
}

extension Peers {
    static func pipelineSides() -> [Side] {
        let transport = AsyncHTTPClientTransport()
        return [
            side("Pipeline, no plugins", transport, [], Page.fields),
            side("Pipeline, six × prepare", transport, fields.map(PrepareField.init), nil),
            side("Pipeline, six × intercept", transport, fields.map(InterceptField.init), nil),
        ]
    }

    private static func side(
        _ name: String,
        _ transport: AsyncHTTPClientTransport,
        _ plugins: [any PluginType],
        _ headers: [String: String]?
    ) -> Side {
        let provider = Provider<Page>(transport: transport, plugins: plugins)
        return Side(name: name) { byteCount, task in
            let response = try await provider.request(Page(byteCount: byteCount, number: task, headers: headers))
            try Side.require(response.statusCode == 200 && response.data.count == byteCount)
        }
    }
}
