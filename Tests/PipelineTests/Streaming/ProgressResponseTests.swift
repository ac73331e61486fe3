import Dispatch
import Foundation
import HTTPTypes
import Pipeline
import TestSupport
import Testing

@Suite("ProgressResponse", .tags(.concurrent))
struct ProgressResponseTests {
    @Test("A step made by hand is brought between 0 and 1", arguments: [(-1.0, 0.0), (0.5, 0.5), (7, 1)])
    func madeByHand(_ given: Double, _ expected: Double) {
        #expect(ProgressResponse(progress: given).progress == expected)
        #expect(!ProgressResponse(progress: given).completed)
    }
}
