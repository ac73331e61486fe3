import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("URLSessionUpload: streamed bodies", .tags(.concurrent), .watched)
struct URLSessionStreamedUploadTests {
    @Test("I8 A body whose reader is cancelled is not treated as complete")
    func cancelled() async {
        let never = AsyncStream<Data> { _ in }
        let reader = Task {
            let request = try PipelineRequest(.put, url: "http://api.test", body: .stream(never))
            return try await URLSessionUpload(request, limit: 100)
        }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
    }
}
