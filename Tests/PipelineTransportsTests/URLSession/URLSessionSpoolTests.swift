import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("URLSessionSpool", .tags(.concurrent), .watched)
struct URLSessionSpoolTests {
    @Test("I8 A body whose reader is cancelled is not treated as complete")
    func cancelled() async {
        let never = AsyncStream<Data> { _ in }
        let reader = Task {
            switch try await URLSessionSpool(.stream(never), limit: 100) {
            case .bytes(let bytes): bytes.count
            case .file: -1
            }
        }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
    }
}
