import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("ServerSentEvent", .watched)
struct ServerSentEventTests {
    @Test("Event data maps to a value; data that does not map fails with mapping.object, without the data")
    func mapping() throws {
        struct News: Decodable { var id: Int }
        #expect(try ServerSentEvent(data: #"{"id":7}"#).map(News.self).id == 7)
        for (data, place) in [
            (#"{"id":"s3cr3t"}"#, #"expected Int, found a string at "id""#),
            ("s3cr3t", "it is not JSON"), ("", "it is empty"),
        ] {
            let error = #expect(throws: PipelineError.self) { try ServerSentEvent(data: data).map(News.self) }
            #expect(error?.code == .mapping(.object))
            #expect(error?.reason == "the data of an event does not decode to News: \(place)")
        }
    }
}
