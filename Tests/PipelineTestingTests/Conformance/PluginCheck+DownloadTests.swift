import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("PluginConformance: download", .tags(.concurrent), .watched)
struct PluginCheckDownloadTests {
    @Test("download: a plugin that loses a file body fails")
    func losesFile() async {
        let failed = await PluginConformanceTests.failed {
            PluginStack.process { result, _ in
                guard case .success(var response) = result, response.body.fileURL != nil else { return }
                response.body = .absent
                result = .success(response)
            }
        }
        #expect(failed == ["download"])
    }
}
