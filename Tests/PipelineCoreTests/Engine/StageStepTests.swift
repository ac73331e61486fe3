import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Idle stages", .tags(.concurrent), .watched)
struct StageStepTests {
    private enum Number: RequestOptions.Key {
        static let defaultValue = 0

        static func pluginOption(for value: Int) -> RequestOptions.PluginOption? { value > 0 ? .number : nil }
    }

    /// Records which of its stages run.
    private struct Numbering: Stage.Prepare, Stage.Intercept, Stage.Process, Stage.WillSend, OptionHandling {
        var name = "Numbering"
        var idle: Set<Stage.Kind> = [.prepare, .intercept, .process]
        var wakers: Set<RequestOptions.PluginOption> = [.number]
        let journal: Journal

        var handledOptions: [RequestOptions.PluginOption] { [.number] }
        var idleStages: [Stage.Kind: Set<RequestOptions.PluginOption>] {
            Dictionary(uniqueKeysWithValues: idle.map { ($0, wakers) })
        }

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
            journal.add("prepare")
        }

        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse {
            journal.add("intercept")
            return try await next(request)
        }

        func willSend(_ request: PipelineRequest, context: PipelineContext) { journal.add("willSend") }

        func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
            journal.add("process")
        }
    }

    private func provider(_ plugins: any PluginType...) -> Provider<TestTarget> {
        Provider(transport: ScriptedTransport(always: .status(200)), plugins: plugins)
    }

    private func options(_ number: Int) -> RequestOptions { RequestOptions { $0[Number.self] = number } }

    @Test("An idle stage is skipped for a call without its option, and the plugins inside still run")
    func idle() async throws {
        let journal = Journal()
        let inside = PluginStack.prepare { _, _ in journal.add("inside") }
        let provider = provider(Numbering(journal: journal), inside)
        #expect(try await provider.request(TestTarget()).statusCode == 200)
        #expect(journal.entries == ["inside", "willSend"])
    }

    @Test("An idle stage runs if the call or the target sets its option")
    func awake() async throws {
        let all = ["prepare", "intercept", "willSend", "process"]
        let journal = Journal()
        let provider = provider(Numbering(journal: journal))
        _ = try await provider.request(TestTarget(), options: options(1))
        #expect(journal.entries == all)
        _ = try await provider.request(TestTarget(options: options(2)))
        #expect(journal.entries == all + all)
    }

    @Test("An option value that needs no plugin wakes no stage and overrides the target's value")
    func off() async throws {
        let journal = Journal()
        let provider = provider(Numbering(journal: journal))
        _ = try await provider.request(TestTarget(options: options(2)), options: options(0))
        #expect(journal.entries == ["willSend"])
    }

    @Test("A stage that is not idle runs for every call, and an idle stage without options for none")
    func some() async throws {
        let journal = Journal()
        let provider = provider(Numbering(idle: [.process], wakers: [], journal: journal))
        for number in [0, 1] { _ = try await provider.request(TestTarget(), options: options(number)) }
        #expect(journal.entries == ["prepare", "intercept", "willSend", "prepare", "intercept", "willSend"])
    }

    @Test("An observer runs even if it is declared idle")
    func observer() async throws {
        let journal = Journal()
        _ = try await provider(Numbering(idle: [.willSend], journal: journal)).request(TestTarget())
        #expect(journal.entries == ["prepare", "intercept", "willSend", "process"])
    }

    @Test("An idle process stage is skipped if the request cannot be encoded")
    func failure() async throws {
        let journal = Journal()
        let seen = PluginStack.process { _, _ in journal.add("seen") }
        let task = RequestTask.requestJSONEncodable(Double.infinity)
        let provider = provider(seen, Numbering(journal: journal))
        let error = await pipelineError { _ = try await provider.request(TestTarget(method: .post, task: task)) }
        #expect(error?.code == .encoding)
        #expect(journal.entries == ["seen"])
    }

    @Test("explain() shows which option wakes a stage and omits a stage that never runs")
    func explained() {
        let journal = Journal()
        let description = provider(
            Numbering(name: "A", idle: [.prepare, .intercept], journal: journal),
            Numbering(name: "B", idle: [.prepare, .intercept], wakers: [], journal: journal)
        ).explain()
        #expect(
            "\(description)" == """
                call
                └─ 1 A                prepare if number, intercept if number, process
                   └─ 2 B             process
                wire (each exchange)
                ├─ 1 A                willSend
                ├─ 2 B                willSend
                └─ ScriptedTransport  bodies arrive as on the wire
                findings: none
                """
        )
        #expect(description.entries.first?.stages.map(\.options) == [[.number], [.number], nil, nil])
    }
}

extension RequestOptions.PluginOption {
    fileprivate static let number = Self("number", of: "Numbering")
}
