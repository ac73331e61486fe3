import Pipeline
import TestSupport
import Testing

@Suite("httpbin: status codes", .besideHTTPBin, .realTime, .watched)
struct StatusTests {
    private struct Status: HTTPBinTarget {
        var code: Int
        var method: HTTPMethod = .get
        var validationType = ValidationType.anyStatus

        var path: String { "/status/\(code)" }
    }

    private let provider = Provider<Status>(configuration: .init(redirects: .never))

    @Test(
        "every status is a response if nothing is validated",
        arguments: [
            200, 201, 202, 203, 204, 205, 206, 226, 299, 300, 301, 302, 303, 304, 305, 306, 307, 308, 400, 401, 402,
            403, 404,
            405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 425, 426, 428, 429, 431,
            451, 499,
            500, 501, 502, 503, 504, 505, 507, 508, 511, 599, 600, 999,
        ]
    )
    func statuses(code: Int) async throws {
        let response = try await provider.request(Status(code: code))
        #expect(response.statusCode == code)
        #expect(response.exchanges.map(\.statusCode) == [code])
    }

    @Test(
        "every method returns its status",
        arguments: [HTTPRequest.Method.head, .post, .put, .patch, .delete],
        [204, 401, 404, 503]
    )
    func methods(method: HTTPRequest.Method, code: Int) async throws {
        #expect(try await provider.request(Status(code: code, method: method)).statusCode == code)
    }

    @Test(
        "the target's validation decides which statuses are errors",
        arguments: [
            (.anyStatus, [200, 204, 302, 304, 404, 418, 500]), (.successCodes, [200, 204]),
            (.successAndRedirectCodes, [200, 204, 302, 304]), (.customCodes([404, 418]), [404, 418]),
            (.customCodes(500..<600), [500]),
        ] as [(ValidationType, Set<Int>)]
    )
    func validation(type: ValidationType, accepted: Set<Int>) async throws {
        for code in [200, 204, 302, 304, 404, 418, 500] {
            let target = Status(code: code, validationType: type)
            guard !accepted.contains(code) else {
                #expect(try await provider.request(target).statusCode == code)
                continue
            }
            let error = try #require(await provider.failure(target))
            #expect(error.code == .unacceptableStatus)
            #expect(error.response?.statusCode == code)
        }
    }

    @Test("the error for an unacceptable status has the body, also for a stream")
    func refusedBody() async throws {
        let target = Status(code: 418, validationType: .successCodes)
        let buffered = try #require(await provider.failure(target))
        #expect(try buffered.response?.mapString().contains("teapot") == true)
        let streamed = await #expect(throws: PipelineError.self) { try await provider.stream(target) }
        #expect(streamed?.code == .unacceptableStatus)
        #expect(try streamed?.response?.mapString().contains("teapot") == true)
    }

    @Test("a response can filter its own status")
    func filters() async throws {
        let response = try await provider.request(Status(code: 302))
        #expect(try response.filterSuccessfulStatusAndRedirectCodes().statusCode == 302)
        #expect(try response.filter(statusCode: 302).statusCode == 302)
        let error = #expect(throws: PipelineError.self) { try response.filterSuccessfulStatusCodes() }
        #expect(error?.code == .unacceptableStatus)
        #expect(throws: PipelineError.self) { try response.filter(statusCodes: 400..<500) }
    }
}
