import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Closures of HeadersPlugin", .tags(.concurrent), .watched)
struct HeadersPluginClosureTests {
    private func sent(_ plugin: HeadersPlugin) async throws -> PipelineRequest {
        let transport = ScriptedTransport(always: .status(200))
        _ = try await Provider<Ask>(transport: transport, plugins: [plugin]).request(Ask())
        return try #require(transport.sent.last)
    }

    @Test("M04 A closure may return an empty dictionary literal for no fields", arguments: ["7", nil])
    func emptyLiteral(tenant: String?) async throws {
        let plugin = HeadersPlugin { _ in
            guard let tenant else { return [:] }
            return ["X-Tenant": tenant]
        }
        #expect(try await sent(plugin).headers.map(\.value) == (tenant.map { [$0] } ?? []))
    }

    @Test("M04 A closure of several statements may return nil or a dictionary", arguments: ["7", nil])
    func nilOrDictionary(key: String?) async throws {
        let plugin = HeadersPlugin(secret: ["X-Tenant"]) { _ in
            guard let key else { return nil }
            return ["X-Tenant": key, "Accept": "b"]
        }
        let request = try await sent(plugin)
        #expect(request.headers.map(\.name.rawName) == (key == nil ? [] : ["Accept", "X-Tenant"]))
        #expect(request.secretFields.map(\.rawName) == (key == nil ? [] : ["X-Tenant"]))
    }

    @Test("M04 A closure of several statements may still return another type of fields")
    func otherTypes() async throws {
        let named = HeadersPlugin { target in
            guard target is Ask else { return nil }
            return [HTTPField.Name.accept: "a, b"]
        }
        #expect(try await sent(named).headers == [.accept: "a, b"])
        let repeated = HeadersPlugin { _ in
            var fields = HTTPFields()
            fields[values: .accept] = ["a", "b"]
            return fields
        }
        #expect(try await sent(repeated).headers[values: .accept] == ["a", "b"])
    }
}
