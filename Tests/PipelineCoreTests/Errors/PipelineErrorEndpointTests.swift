import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("The endpoint in an error's description", .watched)
struct PipelineErrorEndpointTests {
    enum Shop: TargetType {
        case zen
        case book(id: String)
        case search(String, page: Int)

        var baseURL: URL { URL(string: "https://shop.example/v1") ?? URL(filePath: "/") }
        var path: String { "items" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var validationType: ValidationType { .successCodes }
    }

    enum Told: TargetType, CustomStringConvertible {
        case secret
        var description: String { "CANARY" }
        var baseURL: URL { URL(string: "https://shop.example") ?? URL(filePath: "/") }
        var path: String { "told" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }

    enum Mirrored: TargetType, CustomReflectable {
        case secret(Int)
        var customMirror: Mirror { Mirror(self, children: ["CANARY": 1], displayStyle: .enum) }
        var baseURL: URL { URL(string: "https://shop.example") ?? URL(filePath: "/") }
        var path: String { "mirrored" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }

    private static func failure(
        _ target: some TargetType,
        _ step: ScriptedTransport.Step = .failure(.dns),
        prepare: @escaping @Sendable (inout PipelineRequest) throws -> Void = { _ in }
    ) async -> PipelineError? {
        let provider = Provider<MultiTarget>(
            transport: ScriptedTransport([step]),
            plugins: [.prepare(name: "Refusing") { request, _ in try prepare(&request) }]
        )
        return await pipelineError { _ = try await provider.request(target) }
    }

    @Test(
        "The description names the target's type and case without its values",
        arguments: [
            (Shop.zen, "Shop.zen"), (.book(id: "CANARY"), "Shop.book"), (.search("CANARY", page: 77), "Shop.search"),
        ]
    )
    func targetCase(target: Shop, name: String) async {
        let error = await Self.failure(target)
        #expect(error?.description == "dns: by script; GET shop.example/v1/items; target \(name)")
        #expect(error.map { String(reflecting: $0) } == error?.description)
    }

    @Test("A target that is not an enum, or that describes itself, is named by its type alone")
    func targetType() async throws {
        #expect(await Self.failure(try SampleTarget())?.description.hasSuffix("; target SampleTarget") == true)
        #expect(await Self.failure(Told.secret)?.description.hasSuffix("; target Told") == true)
        #expect(await Self.failure(Mirrored.secret(1))?.description.hasSuffix("; target Mirrored") == true)
    }

    @Test("A decoding failure and a refusal before the first exchange name the target too")
    func everyFailure() async {
        let provider = Provider<Shop>(transport: ScriptedTransport([.status(200, body: "CANARY")]))
        let undecoded = await pipelineError { _ = try await provider.request(.zen, as: Int.self) }
        #expect(undecoded?.code == .mapping(.object))
        #expect(undecoded?.description.contains("; GET shop.example/v1/items; target Shop.zen") == true)
        let refused = await Self.failure(Shop.zen) { _ in throw PipelineError(.encoding, "no") }
        #expect(
            refused?.description == "encoding: no (Refusing, prepare); GET shop.example/v1/items; target Shop.zen"
        )
    }

    @Test("The path is shown without its query and without secrets from header fields and the query")
    func path() async {
        let error = await Self.failure(Shop.zen) { request in
            request.head.path = "/users/CANARY-1/of/CANARY-2?q=CANARY-3&token=CANARY-2"
            try request.setHeader("Bearer CANARY-1", for: .authorization)
        }
        #expect(error?.description.contains("; GET shop.example/users/…/of/…; ") == true)
        #expect(error?.description.contains("CANARY") == false)
    }

    @Test("A path that cannot be sent is not shown", arguments: ["/CANARY\nforged line", "/a#CANARY", "/é"])
    func invalidPath(_ path: String) async {
        let error = await Self.failure(Shop.zen) { $0.head.path = path }
        #expect(error?.code == .invalidRequest(.path))
        #expect(error?.description.contains("; GET shop.example; target Shop.zen") == true)
    }
}
