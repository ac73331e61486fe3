import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("The option errorText", .watched)
struct ErrorTextTests {
    private static let texts = RequestOptions { $0.errorText = { $0.statusCode == 404 ? "No such book" : nil } }

    @Test(
        "A failure has the text from the call's or else the target's options, and didFinish sees it"
    )
    func texts() async throws {
        let outcomes = Outcomes()
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: .status(404)), plugins: [outcomes])
        let target = TestTarget(validationType: .successCodes, options: Self.texts)
        #expect(await pipelineError { _ = try await provider.request(target) }?.customText == "No such book")
        let options = RequestOptions { $0.errorText = { _ in "Gone" } }
        let error = await pipelineError { _ = try await provider.request(target, options: options) }
        #expect(error?.customText == "Gone" && error?.localizedDescription == "Gone")
        #expect(outcomes.all.map(\.error?.customText) == ["No such book", "Gone"])
    }

    @Test("A failure has no custom text if the closure returns nil")
    func noText() async throws {
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: .status(500)))
        let target = TestTarget(validationType: .successCodes, options: Self.texts)
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.code == .unacceptableStatus && error?.customText == nil)
    }
}
