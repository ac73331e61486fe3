import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("JSONEncoding, parameter trees", .watched)
struct ParameterTreeTests {
    @Test("M30 Assigning nil removes a key, and an optional that is nil drops its key")
    func nilValues() throws {
        let limit: Int? = nil
        var parameters: RequestParameters = ["limit": limit, "offset": 3]
        #expect(try JSONEncodingTests.body(parameters) == #"{"offset":3}"#)
        parameters["offset"] = nil
        #expect(try JSONEncodingTests.body(parameters) == "{}")
    }

    @Test("Up to 64 levels of nesting are encoded, and more are refused")
    func depth() throws {
        #expect(try JSONEncodingTests.body(JSONEncodingTests.nested(64)).hasSuffix(String(repeating: "}", count: 64)))
        for depth in [65, 2_000] {
            let error = #expect(throws: PipelineError.self) {
                try JSONEncodingTests.body(JSONEncodingTests.nested(depth))
            }
            #expect(error?.code == .encoding)
            #expect(error?.reason.contains("64") == true)
        }
    }

    @Test("A Foundation collection is refused because it may contain itself")
    func foundationCollections() throws {
        let ring = NSMutableArray()
        let dictionary = NSMutableDictionary()
        ring.add(ring)
        dictionary["ring"] = ring
        for object in [ring, dictionary, NSArray()] as [NSObject] {
            let parameters: RequestParameters = ["a": unsafeBitCast(object as Any, to: (any Sendable).self)]
            for encoding in [JSONEncoding.default, URLEncoding.default, PropertyListEncoding.xml]
                as [any ParameterEncoding]
            {
                let task = RequestTask.requestParameters(parameters: parameters, encoding: encoding)
                #expect {
                    try Endpoint(url: "https://example.com", method: .post, task: task).makeRequest()
                } throws: {
                    ($0 as? PipelineError)?.code == .encoding
                }
            }
        }
    }
}
