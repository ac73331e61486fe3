import Foundation
import PipelineMoya
import TestSupport
import Testing

@Suite(.watched) struct MoyaMultiTargetTests {
    @Test("M9: a wrapper has the values of its target")
    func forwarding() {
        let inner = PlainTarget(method: .post, validationType: .successCodes, headers: ["A": "b"])
        let target = MultiTarget(inner)
        #expect(target.baseURL == inner.baseURL)
        #expect(target.path == inner.path)
        #expect(target.method == .post)
        #expect(target.sampleData == inner.sampleData)
        #expect(target.validationType == .successCodes)
        #expect(target.headers == ["A": "b"])
        #expect(target.target is PlainTarget)
        if case .requestPlain = target.task {} else { Issue.record("another task") }
    }

    @Test("M9, M3: a provider of wrappers sends any target")
    func anyTarget() async throws {
        let provider = MoyaProvider<MultiTarget>(stubClosure: MoyaProvider.immediatelyStub)
        let zen = try await provider.request(MultiTarget(GitHub.zen))
        #expect(try zen.mapString() == "Half measures are as bad as nothing at all.")
        let user = try await provider.request(.target(MyService.showUser(id: 3)))
        #expect(try user.mapString(atKeyPath: "first_name") == "Harry")
    }

    @Test("M10: a wrapper has the authorization type of its target, if that has one")
    func authorizationType() {
        #expect(MultiTarget(AuthorizedTarget(authorizationType: .custom("T"))).authorizationType == .custom("T"))
        #expect(MultiTarget(PlainTarget()).authorizationType == nil)
    }

    @Test("M11: plugins see the wrapper")
    func wrapperInPlugins() async throws {
        final class Seen: PluginType {
            var targets: [any TargetType] = []
            func willSend(_ request: any RequestType, target: any TargetType) { targets.append(target) }
        }
        let plugin = Seen()
        let provider = MoyaProvider<MultiTarget>(stubClosure: MoyaProvider.immediatelyStub, plugins: [plugin])
        _ = try await provider.request(MultiTarget(GitHub.zen))
        #expect(plugin.targets.first is MultiTarget)
    }

    @Test("M7: a method has its name in upper case, and any name makes a method")
    func methods() {
        let methods: [Moya.Method] = [.connect, .delete, .get, .head, .options, .patch, .post, .put, .query, .trace]
        let names = ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"]
        #expect(methods.map(\.rawValue) == names)
        #expect(Moya.Method(rawValue: "PURGE").rawValue == "PURGE")
    }

    @Test("M8: POST, PUT, PATCH and CONNECT support a multipart form")
    func multipartMethods() {
        for method in [Moya.Method.post, .put, .patch, .connect] { #expect(method.supportsMultipart) }
        for method in [Moya.Method.get, .delete, .options, .head, .trace] { #expect(!method.supportsMultipart) }
    }

    @Test("M4: with an empty path, the base URL stays as it is")
    func emptyPath() throws {
        let url = "http://example.com/123/somepath?X-ABC-Asd=123"
        let target = PlainTarget(baseURL: try #require(URL(string: url)), path: "")
        #expect(URL(target: target).absoluteString == url)
    }

    @Test("M5: the path is appended with one slash", arguments: ["/zen", "zen"])
    func path(path: String) {
        #expect(URL(target: PlainTarget(path: path)).absoluteString == "https://example.com/zen")
    }

    @Test("M6: a question mark and a percent sign in a path are escaped")
    func escapedPath() {
        #expect(URL(target: PlainTarget(path: "a?b")).absoluteString == "https://example.com/a%3Fb")
        #expect(URL(target: PlainTarget(path: "a%20b")).absoluteString == "https://example.com/a%2520b")
    }

    @Test("M2: a target without validation accepts every status")
    func defaultValidation() {
        #expect(AuthorizedTarget().validationType == .none)
        #expect(AuthorizedTarget().sampleData.isEmpty)
    }
}
