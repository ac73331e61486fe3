import Dispatch
import Foundation
import PipelineMoya
import PipelineTransports

/// The target of ``Shop``, as source for Moya describes it.
private enum MoyaShop: TargetType {
    case item(Int)

    var baseURL: URL { Shop.item(1).baseURL }
    var path: String { "/items/1" }
    var method: Moya.Method { .get }
    var task: PipelineMoya.Task { .requestPlain }
    var headers: [String: String]? { ["Accept": "application/json", "User-Agent": "shop/1.0"] }
    var sampleData: Data { Shop.item(1).sampleData }
}

extension Overhead {
    /// Returns cases for the interface of Moya, beside "no plugins": a stub of its own, and a transport that stubs.
    ///
    /// Moya's provider has a completion, which runs on a queue.
    static func moya() -> [Case] {
        let queue = DispatchQueue(label: "overhead")
        return [
            moya(
                "Moya's interface: immediate stub",
                MoyaProvider(stubClosure: MoyaProvider.immediatelyStub, callbackQueue: queue)
            ),
            moya("Moya's interface: sent", MoyaProvider(callbackQueue: queue, transport: StubTransport())),
            nativeCallback("native interface: sent, completion on a queue", queue),
        ]
    }

    private static func moya(_ name: String, _ provider: MoyaProvider<MoyaShop>) -> Case {
        Case(name) { count in
            for _ in 0..<count {
                let result: Result<Response, MoyaError> = await withCheckedContinuation { continuation in
                    provider.request(.item(1)) { continuation.resume(returning: $0) }
                }
                consume(result)
            }
        }
    }

    private static func nativeCallback(_ name: String, _ queue: DispatchQueue) -> Case {
        let provider = Provider<Shop>(transport: StubTransport())
        return Case(name) { count in
            for _ in 0..<count {
                let result: Result<PipelineResponse, PipelineError> = await withCheckedContinuation { continuation in
                    provider.request(.item(1), callbackExecutor: .queue(queue)) { continuation.resume(returning: $0) }
                }
                consume(result)
            }
        }
    }
}
