import Pipeline
import PipelineTesting
import Testing

@Suite("explain()")
struct PipelineDescriptionTests {
    private struct Careful: Stage.Prepare, Stage.WillSend, CapabilityDeclaring {
        let capabilities: Set<PluginCapability> = [.sharesResponses, .spansCalls]
        let orderRules = [
            OrderRule("careful-inside-any", [.sharesResponses], .inside, [.intercepts], consequence: "it is too late")
        ]

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {}

        func willSend(_ request: PipelineRequest, context: PipelineContext) {}
    }

    private let transport = ScriptedTransport(always: .status(200))

    @Test("It lists every plugin in order with its stages and how often each runs, given what wraps it")
    func entries() {
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .prepare(name: "first") { _, _ in },
                Wrapper(name: "retry", journal: Journal()),
                Careful(),
                .intercept(name: "share") { request, _, next in try await next(request) },
                .process(name: "last") { _, _ in },
            ]
        )
        let description = provider.explain()
        #expect(description.entries.map(\.name) == ["first", "retry", "Careful", "share", "last"])
        #expect(description.entries.map(\.position) == [1, 2, 3, 4, 5])
        let stages = description.entries.map { $0.stages.map { "\($0.stage) \($0.frequency)" } }
        #expect(
            stages == [
                ["prepare per call"],
                ["prepare per call", "intercept per call", "process per call"],
                ["prepare per pass of retry", "willSend per exchange"],
                ["intercept per pass of retry"],
                ["process per pass of retry, share"],
            ]
        )
        #expect(description.transport == "ScriptedTransport")
        #expect(
            description.findings.map(\.message) == [
                "Careful is inside retry: it is too late; move Careful outside retry"
            ]
        )
    }

    @Test("It prints as a table with the findings below")
    func table() {
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [.intercept(name: "retry") { request, _, next in try await next(request) }, Careful()]
        )
        #expect(
            "\(provider.explain())" == """
                  1  retry              intercept per call
                  2  Careful            prepare per pass of retry; willSend per exchange
                  →  ScriptedTransport  transport; bodies arrive as on the wire
                finding: Careful is inside retry: it is too late; move Careful outside retry
                note: Careful is inside retry: it does not cover what the outer plugin waits for
                """
        )
        #expect("\(Provider<TestTarget>(transport: transport).explain())".hasSuffix("findings: none"))
    }

    @Test("What it says runs per call or per pass is what runs")
    func agreesWithTheRun() async throws {
        let journal = Journal()
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                Layer(name: "outside", journal: journal), Wrapper(name: "twice", journal: Journal(), passes: 2),
                Layer(name: "inside", journal: journal),
            ]
        )
        _ = try await provider.request(TestTarget())
        for entry in provider.explain().entries where entry.name != "twice" {
            let runs = journal.entries.filter { $0 == "\(entry.name).prepare" }.count
            #expect(runs == (entry.stages.first?.frequency == .perCall ? 1 : 2))
        }
    }
}
