#if !Tools
import Foundation
import TestSupport
import Testing

@Suite("The har command without its package trait", .realTime, .watched)
struct HarTraitTests {
    @Test("The command fails and names the trait")
    func missingTrait() async throws {
        let result = try await HarCommand.run(["validate", "a.har"], in: FileManager.default.temporaryDirectory)
        #expect(result.status == 2)
        #expect(result.text == "")
        #expect(result.errors.contains("Tools"))
    }
}
#endif
