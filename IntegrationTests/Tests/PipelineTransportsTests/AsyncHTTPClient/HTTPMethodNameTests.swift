import Foundation
import NIOHTTP1
import Pipeline
import TestSupport
import Testing

@Suite("HTTPMethod alongside NIOHTTP1", .watched)
struct HTTPMethodNameTests {
    struct Item: TargetType {
        var baseURL: URL { URL(string: "https://a.test") ?? URL(filePath: "/") }
        var path: String { "item" }
        var method: Self.HTTPMethod { .patch }
        var task: RequestTask { .requestPlain }
    }

    @Test("Self.HTTPMethod is the method type of targets, and the bare name is the type of NIOHTTP1")
    func names() {
        let method: HTTPMethod = .PATCH
        #expect(Item().method.rawValue == method.rawValue)
        #expect(Item.HTTPMethod.self == HTTPRequest.Method.self)
    }
}
