import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("RequestTask, parameters", .watched)
struct ParametersContentTests {
    @Test("M18 The encoding decides where parameters go")
    func parameters() throws {
        let query = try RequestTaskTests.request(
            .requestParameters(parameters: ["c": 1], encoding: URLEncoding.queryString)
        )
        #expect(query.head.path == "/p?a=b&c=1")
        #expect(query.body.isAbsent)
        let form = try RequestTaskTests.request(.requestParameters(parameters: ["c": 1], encoding: URLEncoding.default))
        #expect(form.head.path == "/p?a=b")
        #expect(form.body.bytes == Data("c=1".utf8))
        let json = try RequestTaskTests.request(
            .requestParameters(parameters: ["c": 1], encoding: JSONEncoding.default)
        )
        #expect(json.body.bytes == Data(#"{"c":1}"#.utf8))
    }

    /// The root of the body is an array, which `JSONEncoding` cannot write.
    struct ArrayEncoding: ParameterEncoding {
        func encode(_ parameters: RequestParameters, into request: inout PipelineRequest) throws {
            let array = try #require(parameters["jsonArray"] as? [Int])
            request.body = .bytes(try JSONEncoder().encode(array))
            request.setContentTypeIfAbsent("application/json")
        }
    }

    struct ThrowingEncoding: ParameterEncoding {
        let error: any Error

        func encode(_ parameters: RequestParameters, into request: inout PipelineRequest) throws { throw error }
    }

    @Test("M31 A custom parameter encoding may write any body")
    func ownEncoding() throws {
        let task = RequestTask.requestParameters(parameters: ["jsonArray": [3, 1]], encoding: ArrayEncoding())
        #expect(try RequestTaskTests.request(task).body.bytes == Data("[3,1]".utf8))
        #expect(try RequestTaskTests.request(task, ["Content-Type": "a/b"]).headers[values: .contentType] == ["a/b"])
    }

    private func failure(_ thrown: any Error, _ provider: Provider<SampleTarget>) async throws -> PipelineError {
        let encoding = ThrowingEncoding(error: thrown)
        let target = try SampleTarget { $0.task = .requestParameters(parameters: [:], encoding: encoding) }
        let error = await #expect(throws: PipelineError.self) { try await provider.request(target) }
        return try #require(error)
    }

    @Test("M19 An encoding's own error is wrapped, a typed error is passed on, and the next call works")
    func ownErrors() async throws {
        struct NoRoom: Error { let secret = "CANARY" }
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<SampleTarget>(transport: transport)
        let wrapped = try await failure(NoRoom(), provider)
        #expect(wrapped.code == .encoding)
        #expect(wrapped.underlyingError is NoRoom)
        #expect(wrapped.reason.contains("ThrowingEncoding"))
        #expect(!wrapped.description.contains("CANARY"))

        let code = PipelineError.Code(rawValue: "own.code")
        #expect(try await failure(PipelineError(code, "mine"), provider).code == code)
        #expect(try await provider.request(SampleTarget()).statusCode == 200)
        #expect(transport.sent.count == 1)
    }

    @Test("A parameter that cannot be encoded fails the call before sending, and the next call works")
    func unencodableParameter() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<SampleTarget>(transport: transport)
        for encoding: any ParameterEncoding in [URLEncoding.default, JSONEncoding.default] {
            let target = try SampleTarget {
                $0.task = .requestParameters(parameters: ["a": ["bad": Double.nan]], encoding: encoding)
            }
            let error = await #expect(throws: PipelineError.self) { try await provider.request(target) }
            #expect(error?.code == .encoding)
            #expect(error?.reason.contains("\"a.bad\"") == true)
        }
        #expect(transport.sent.isEmpty)
        #expect(try await provider.request(SampleTarget()).statusCode == 200)
    }

    @Test("M21 Body parameters go into the body, and URL parameters go into the query")
    func compositeParameters() throws {
        let json = RequestTask.requestCompositeParameters(
            bodyParameters: ["Nemesis": "Harvey"],
            bodyEncoding: JSONEncoding.default,
            urlParameters: ["Harvey": "Nemesis"]
        )
        let request = try RequestTaskTests.request(json)
        #expect(request.head.path == "/p?a=b&Harvey=Nemesis")
        #expect(request.body.bytes == Data(#"{"Nemesis":"Harvey"}"#.utf8))
        #expect(request.headers[.contentType] == "application/json")

        let form = RequestTask.requestCompositeParameters(
            bodyParameters: ["a": "b c"],
            bodyEncoding: URLEncoding.httpBody,
            urlParameters: [:]
        )
        #expect(try RequestTaskTests.request(form).body.bytes == Data("a=b%20c".utf8))
        #expect(try RequestTaskTests.request(form).head.path == "/p?a=b")
    }

    @Test(
        "M22 B-M17 A body encoding that writes to the URL fails, even without parameters",
        arguments: [[:], ["a": "b"]]
    )
    func compositeQuery(_ parameters: [String: String]) throws {
        struct Custom: ParameterEncoding {
            func encode(_ parameters: RequestParameters, into request: inout PipelineRequest) throws {
                request.appendQuery("z=1")
            }
        }
        for encoding in [URLEncoding.queryString, Custom()] as [any ParameterEncoding] {
            let task = RequestTask.requestCompositeParameters(
                bodyParameters: parameters,
                bodyEncoding: encoding,
                urlParameters: ["c": "d"]
            )
            #expect { try RequestTaskTests.request(task) } throws: { ($0 as? PipelineError)?.code == .encoding }
        }
        let byMethod = RequestTask.requestCompositeParameters(
            bodyParameters: parameters,
            bodyEncoding: URLEncoding.default,
            urlParameters: [:]
        )
        #expect(try !RequestTaskTests.request(byMethod).body.isAbsent)
    }

    @Test("Ruling 16: body parameters are sent with every method that carries a body and fail with all others")
    func compositeByMethod() throws {
        for encoding in [URLEncoding.default, URLEncoding.httpBody, JSONEncoding.default] as [any ParameterEncoding] {
            let task = RequestTask.requestCompositeParameters(
                bodyParameters: ["a": "b"],
                bodyEncoding: encoding,
                urlParameters: ["c": "d"]
            )
            for method in [HTTPRequest.Method.post, .put, .patch, .delete, .options] {
                let request = try Endpoint(url: "https://example.com/p", method: method, task: task).makeRequest()
                #expect(request.query == "c=d")
                let isJSON = encoding is JSONEncoding
                #expect(request.body.bytes == Data((isJSON ? #"{"a":"b"}"# : "a=b").utf8), "\(method)")
            }
            for method in [HTTPRequest.Method.get, .head, .trace] {
                let error = #expect(throws: PipelineError.self) {
                    try Endpoint(url: "https://example.com/p", method: method, task: task).makeRequest()
                }
                #expect(error?.code == .invalidRequest(.body))
            }
        }
    }
}
