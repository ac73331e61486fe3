import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("URL(target:)", .watched)
struct URLTargetTests {
    @Test("M4 M5 URL(target:) joins the base URL and the path")
    func urlOfTarget() throws {
        #expect(URL(target: try SampleTarget { $0.path = "" }).absoluteString == "https://example.com")
        let base = try SampleTarget("http://example.com/123/somepath?X-ABC-Asd=123") { $0.path = "" }
        #expect(URL(target: base).absoluteString == "http://example.com/123/somepath?X-ABC-Asd=123")
        #expect(URL(target: try SampleTarget { $0.path = "/zen" }).absoluteString == "https://example.com/zen")
    }
}
