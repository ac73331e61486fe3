import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("PipelineResponse: filtering", .watched)
struct PipelineResponseFilteringTests {
    @Test("M133 A status in the range returns the response; any other throws an error that has the response")
    func filtering() throws {
        let filters: [(@Sendable (PipelineResponse) throws -> PipelineResponse, Set<Int>)] = [
            ({ try $0.filter(statusCodes: 200...201) }, [200, 201]),
            ({ try $0.filter(statusCodes: 200..<201) }, [200]),
            ({ try $0.filter(statusCodes: ..<300) }, [199, 200, 201, 299]),
            ({ try $0.filter(statusCodes: 400...) }, [400, 500]),
            ({ try $0.filter(statusCode: 304) }, [304]),
            ({ try $0.filterSuccessfulStatusCodes() }, [200, 201, 299]),
            ({ try $0.filterSuccessfulStatusAndRedirectCodes() }, [200, 201, 299, 300, 304, 399]),
        ]
        for (filter, accepted) in filters {
            for status in [199, 200, 201, 299, 300, 304, 399, 400, 500] {
                let response = try makeResponse(status, "body")
                do {
                    #expect(try filter(response).statusCode == status)
                    #expect(accepted.contains(status))
                } catch let error as PipelineError {
                    #expect(!accepted.contains(status))
                    #expect(error.code == .unacceptableStatus)
                    #expect(error.response?.data == Data("body".utf8))
                    #expect(error.request?.host == "example.com")
                }
            }
        }
    }
}
