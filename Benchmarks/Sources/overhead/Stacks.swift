import Foundation
import Pipeline

/// The target that every case sends.
enum Shop: TargetType, AccessTokenAuthorizable {
    case item(Int)

    private static let base = URL(string: "https://api.example.com/v1") ?? URL(fileURLWithPath: "/")
    private static let body = Data(#"{"id":1,"name":"lamp","price":19.5}"#.utf8)

    var baseURL: URL { Self.base }
    var path: String {
        switch self {
        case .item: "/items/1"
        }
    }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
    var headers: [String: String]? { ["Accept": "application/json", "User-Agent": "shop/1.0"] }
    var sampleData: Data { Self.body }
    var authorizationType: AuthorizationType? { .bearer }
}

struct PrepareNothing: Stage.Prepare {
    func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {}
}

struct WillSendNothing: Stage.WillSend {
    func willSend(_ request: PipelineRequest, context: PipelineContext) {}
}

struct DidReceiveNothing: Stage.DidReceive {
    func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {}
}

struct ProcessNothing: Stage.Process {
    func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {}
}

struct InterceptNothing: Stage.Intercept {
    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        try await next(request)
    }
}

struct ExchangeNothing: Stage.Exchange {
    func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        try await send(request)
    }
}

struct DidFinishNothing: Stage.DidFinish {
    func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) {}
}

/// Plugins that do nothing, one for each stage.
let stages: [(name: String, plugin: any PluginType)] = [
    ("prepare", PrepareNothing()),
    ("willSend", WillSendNothing()),
    ("didReceive", DidReceiveNothing()),
    ("process", ProcessNothing()),
    ("intercept", InterceptNothing()),
    ("exchange", ExchangeNothing()),
    ("didFinish", DidFinishNothing()),
]

/// The plugins of a typical app.
let realisticStack: [any PluginType] = [
    LoggingPlugin(level: .error) { _, line in consume(line) },
    .intercept { request, _, next in try await next(request) },
    AccessTokenPlugin { _ in "2YotnFZFEjr1zCsicMWpAA" },
    .prepare { request, _ in request.headers[.acceptLanguage] = "en" },
]
