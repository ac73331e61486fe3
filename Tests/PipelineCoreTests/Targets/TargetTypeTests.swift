import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("TargetType", .watched)
struct TargetTypeTests {
    @Test("M2 A target defaults to no headers, validation, sample data or options")
    func defaults() throws {
        let target = MinimalTarget(baseURL: try #require(URL(string: "https://example.com")))
        #expect(target.headers == nil)
        #expect(target.validationType == .automatic)
        #expect(target.sampleData.isEmpty)
        #expect(target.options[SampleOption.self] == "default")
        let request = try Endpoint(target).makeRequest()
        #expect(request.headers.isEmpty)
        #expect(request.body.isAbsent)
    }
}
