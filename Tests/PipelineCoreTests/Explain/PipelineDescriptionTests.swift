import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("explain()", .watched)
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

    @Test("explain() lists every plugin in order, with its stages and how often each runs")
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

    @Test("The description is a tree with wrapped plugins under their interceptor, above the findings and their page")
    func tree() {
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [.intercept(name: "retry") { request, _, next in try await next(request) }, Careful()]
        )
        #expect(
            "\(provider.explain())" == """
                call
                └─ 1 retry            intercept
                   └─ 2 Careful       prepare
                wire (each exchange)
                ├─ 2 Careful          willSend
                └─ ScriptedTransport  bodies arrive as on the wire
                findings: 1 fault, 1 hint
                fault careful-inside-any: Careful (2) is inside retry (1)
                  it is too late
                  move Careful outside retry
                hint span-inside-interceptor: Careful (2) is inside retry (1)
                  it does not cover what the outer plugin waits for
                see Documentation/Findings.md of Pipeline
                """
        )
        #expect("\(Provider<TestTarget>(transport: transport).explain())".hasSuffix("findings: none"))
    }

    @Test(
        "The tree shows only levels with plugins, and marks didFinish inside an interceptor as per call"
    )
    func levels() {
        let decoding = ScriptedTransport(always: .status(200), decodesContent: true)
        #expect(
            "\(Provider<TestTarget>(transport: decoding).explain())" == """
                wire (each exchange)
                └─ ScriptedTransport  bodies arrive decoded
                findings: none
                """
        )
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .didFinish(name: "first") { _, _ in },
                .intercept(name: "outer") { request, _, next in try await next(request) },
                .prepare(name: "between") { _, _ in },
                .intercept(name: "inner") { request, _, next in try await next(request) },
                .didFinish(name: "last") { _, _ in },
            ]
        )
        #expect(
            "\(provider.explain())" == """
                call
                ├─ 1 first            didFinish
                └─ 2 outer            intercept
                   ├─ 3 between       prepare
                   └─ 4 inner         intercept
                      └─ 5 last       didFinish per call
                wire (each exchange)
                └─ ScriptedTransport  bodies arrive as on the wire
                findings: none
                """
        )
    }

    @Test("Stages run as often as explain() says")
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
            let runs = journal.entries.count { $0 == "\(entry.name).prepare" }
            #expect(runs == (entry.stages.first?.frequency == .perCall ? 1 : 2))
        }
    }
}
