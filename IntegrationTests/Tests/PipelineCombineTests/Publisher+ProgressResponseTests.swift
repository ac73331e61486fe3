import Foundation
import Pipeline
import PipelineCombine
import PipelineTesting
import TestSupport
import Testing

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@Suite("Publishers of progress: filters", .watched)
struct PublisherProgressResponseTests {
    @Test("M182 filterCompleted publishes the response, and filterProgress the progress before it")
    func filters() async throws {
        let request = try PipelineRequest(url: "https://library.example/v1/books/3")
        let last = ProgressResponse(progress: 1, response: PipelineResponse(request: request, statusCode: 201))
        let steps = [ProgressResponse(progress: 0), ProgressResponse(progress: 0.5), last].publisher
            .setFailureType(to: PipelineError.self)
        #expect(await Outcome.of(steps.filterCompleted()).values.map(\.statusCode) == [201])
        #expect(await Outcome.of(steps.filterProgress()).values == [0, 0.5])
    }
}
