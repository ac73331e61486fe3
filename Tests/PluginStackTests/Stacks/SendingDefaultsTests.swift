import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Defaults: how often a request is sent", .watched)
struct SendingDefaultsTests {
    @Test(
        "A1: a GET that fails is sent three times by a standard stack, a POST once, and a success once",
        arguments: DefaultStack.allCases,
        [
            (HTTPRequest.Method.get, 503, 3), (.post, 503, 1), (.put, 503, 3), (.get, 500, 3), (.get, 404, 1),
            (.get, 200, 1),
        ]
    )
    func count(stack: DefaultStack, row: (method: HTTPRequest.Method, status: Int, count: Int)) async throws {
        let (clock, transport) = (ManualClock(), ScriptedTransport(always: .status(row.status)))
        let configuration = ProviderConfiguration(clock: clock)
        let provider = Provider<Ask>(transport: transport, plugins: stack.plugins, configuration: configuration)
        let response = try await clock.run { try await provider.request(Ask(method: row.method)) }
        #expect(response.statusCode == row.status)
        #expect(transport.sent.count == (stack == .bare ? 1 : row.count))
    }
}
