import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Provider<MultiTarget>", .watched)
struct ProviderMultiTargetTests {
    let witness = MultiTargetTests.Witness()

    /// Sends to a fixed origin, because `UserAPI` does not have one.
    func provider(_ transport: some Transport) -> Provider<MultiTarget> {
        Provider(transport: transport, plugins: [witness]) { target in
            var endpoint = Endpoint(target)
            endpoint.url = "https://example.com/" + target.path
            return endpoint
        }
    }

    @Test("M3 M12 A Provider<MultiTarget> takes enums, structs and classes, directly or wrapped")
    func anyTarget() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = provider(transport)
        let base = try #require(URL(string: "https://example.com"))
        _ = try await provider.request(MultiTargetTests.UserAPI.get(id: 1))
        _ = try await provider.request(SampleTarget { $0.path = "struct" })
        _ = try await provider.request(MultiTargetTests.ClassTarget(base))
        _ = try await provider.request(MultiTarget(MultiTargetTests.UserAPI.get(id: 1)))
        _ = try await provider.request(MultiTarget(SampleTarget { $0.path = "wrapped" }))
        _ = try await provider.stream(MultiTargetTests.UserAPI.get(id: 1))
        #expect(transport.sent.map(\.path) == ["/users", "/struct", "/class", "/users", "/wrapped", "/users"])
        #expect(transport.sent.first?.method == .patch)
        #expect(transport.sent.first?.body.bytes == Data("x".utf8))
    }

    @Test("A call with a completion handler takes any target")
    func callback() async throws {
        let provider = provider(StubTransport())
        let result = await withCheckedContinuation { continuation in
            provider.request(MultiTargetTests.UserAPI.get(id: 1)) { continuation.resume(returning: $0) }
        }
        #expect(try result.get().statusCode == 200)
    }

    @Test("requestDecoded returns the target's response type")
    func decoded() async throws {
        let user = try await provider(StubTransport()).requestDecoded(MultiTargetTests.UserAPI.get(id: 1))
        #expect(user == MultiTargetTests.User(name: "Ann"))
        let single = Provider<MultiTargetTests.UserAPI>(transport: StubTransport()) { _ in
            Endpoint(url: "https://example.com")
        }
        #expect(try await single.requestDecoded(.get(id: 1)) == MultiTargetTests.User(name: "Ann"))
    }

    @Test("requestDecoded uses the given decoder")
    func decoder() async throws {
        struct Upper: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue.lowercased() }
            init?(intValue: Int) { nil }
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { Upper(stringValue: $0.last?.stringValue ?? "") }
        let provider = provider(ScriptedTransport([.status(200, body: #"{"NAME":"Bob"}"#)]))
        #expect(
            try await provider.requestDecoded(MultiTargetTests.UserAPI.get(id: 1), decoder: decoder)
                == MultiTargetTests.User(name: "Bob")
        )
    }

    @Test(
        "requestDecoded fails with a typed error that has the response",
        arguments: ["", "<html>", "[]"]
    )
    func undecodable(_ body: String) async throws {
        let provider = provider(
            ScriptedTransport([.status(200, body: body), .status(200, body: #"{"name":""}"#)])
        )
        let thrown = await #expect(throws: PipelineError.self) {
            try await provider.requestDecoded(MultiTargetTests.UserAPI.get(id: 1))
        }
        #expect(thrown?.code == .mapping(.object))
        #expect(thrown?.response?.data == Data(body.utf8))
        #expect(
            try await provider.requestDecoded(MultiTargetTests.UserAPI.get(id: 1)) == MultiTargetTests.User(name: "")
        )
    }

    @Test("A value at a key path is decoded for any target")
    func keyPath() async throws {
        let provider = provider(ScriptedTransport([.status(200, body: #"{"data":[{"name":"Cy"}]}"#)]))
        #expect(
            try await provider.request(SampleTarget(), as: MultiTargetTests.User.self, atKeyPath: "data.0")
                == MultiTargetTests.User(name: "Cy")
        )
    }
}
