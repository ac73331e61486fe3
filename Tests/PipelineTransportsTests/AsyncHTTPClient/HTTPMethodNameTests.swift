#if AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOHTTP1
import Pipeline
import Testing

@Suite("HTTPMethod beside NIOHTTP1")
struct HTTPMethodNameTests {
    struct Item: TargetType {
        var baseURL: URL { URL(string: "https://a.test") ?? URL(filePath: "/") }
        var path: String { "item" }
        var method: Self.HTTPMethod { .patch }
        var task: RequestTask { .requestPlain }
    }

    @Test("Self.HTTPMethod is that of targets, the bare name NIOHTTP1's")
    func names() {
        let method: HTTPMethod = .PATCH
        #expect(Item().method.rawValue == method.rawValue)
        #expect(Item.HTTPMethod.self == HTTPRequest.Method.self)
    }
}
#endif
