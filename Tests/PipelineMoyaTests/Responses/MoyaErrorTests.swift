import Foundation
import PipelineMoya
import PipelineTesting
import TestSupport
import Testing

@Suite(.watched) struct MoyaErrorTests {
    private let response = Response(statusCode: 200, data: Data())
    private let underlying = NSError(
        domain: "UnderlyingDomain",
        code: 200,
        userInfo: [NSLocalizedDescriptionKey: "why"]
    )

    private var withResponse: [MoyaError] {
        [
            .imageMapping(response), .jsonMapping(response), .stringMapping(response),
            .objectMapping(underlying, response), .statusCode(response), .underlying(underlying, response),
        ]
    }
    private var withoutResponse: [MoyaError] {
        [
            .encodableMapping(underlying), .underlying(underlying, nil), .requestMapping("url"),
            .parameterEncoding(underlying),
        ]
    }

    @Test("M144, M145: an error has the response of its case")
    func responses() {
        for error in withResponse { #expect(error.response === response) }
        for error in withoutResponse { #expect(error.response == nil) }
    }

    @Test("M146, M148: the user info has the description and the underlying error")
    func userInfo() {
        for error in withResponse + withoutResponse {
            #expect(error.errorUserInfo[NSLocalizedDescriptionKey] as? String == error.errorDescription)
            let cause = error.errorUserInfo[NSUnderlyingErrorKey] as? NSError
            switch error {
            case .objectMapping, .encodableMapping, .underlying, .parameterEncoding: #expect(cause == underlying)
            default: #expect(cause == nil)
            }
        }
    }

    @Test("M147: an underlying error describes itself")
    func description() {
        #expect(MoyaError.underlying(underlying, nil).errorDescription == underlying.localizedDescription)
        #expect(
            MoyaError.parameterEncoding(underlying).errorDescription?.hasSuffix(underlying.localizedDescription) == true
        )
        for error in withResponse + withoutResponse { #expect(error.errorDescription?.isEmpty == false) }
    }

    @Test("M131: a result is made from what URLSession returns")
    func convertedResult() throws {
        let url = try #require(URL(string: "https://example.com"))
        let request = URLRequest(url: url)
        let head = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        let success = convertResponseToResult(head, request: request, data: Data("x".utf8), error: nil)
        #expect(success.response?.data == Data("x".utf8))
        #expect(success.response?.request == request)
        #expect(convertResponseToResult(head, request: nil, data: nil, error: nil).response?.data == Data())
        let both = convertResponseToResult(head, request: nil, data: nil, error: underlying)
        #expect(both.text == "UnderlyingDomain 200")
        #expect(both.error?.response?.statusCode == 200)
        let failure = convertResponseToResult(nil, request: nil, data: nil, error: underlying)
        #expect(failure.text == "UnderlyingDomain 200")
        #expect(failure.error?.response == nil)
        #expect(convertResponseToResult(nil, request: nil, data: nil, error: nil).text == "URLError -1")
    }

    @Test("M129: a sent request whose status is not accepted fails with its response")
    func validation() async {
        let provider = MoyaProvider<GitHub>(transport: ScriptedTransport([.status(404, body: "no zen")]))
        let result = await provider.result(of: .zen)
        #expect(result.text == "rejected 404")
        #expect(result.error?.response?.statusCode == 404)
        #expect(result.error?.response?.data == Data("no zen".utf8))
    }

    @Test("M130: without validation, every status is a success")
    func noValidation() async {
        let provider = MoyaProvider<PlainTarget>(transport: ScriptedTransport([.status(500)]))
        #expect(await provider.result(of: PlainTarget()).text == "500")
    }

    @Test("A failure of the network is a URLError in an AFError")
    func networkErrors() async {
        let codes: [(ScriptedTransport.Step, URLError.Code)] = [
            (.failure(.offline), .notConnectedToInternet), (.failure(.timeout(.head)), .timedOut),
            (.failure(.dns), .cannotFindHost), (.failure(.connect(.refused)), .cannotConnectToHost),
            (.failure(.connectionLost), .networkConnectionLost), (.failure(URLError(.timedOut)), .timedOut),
        ]
        for (step, code) in codes {
            let provider = MoyaProvider<PlainTarget>(transport: ScriptedTransport([step]))
            #expect(await provider.result(of: PlainTarget()).text == "failed with URLError \(code.rawValue)")
        }
    }

    @Test("The response of a sent request has URL, status and header fields")
    func httpResponse() async {
        let provider = MoyaProvider<PlainTarget>(
            transport: ScriptedTransport([.status(201, headers: [.contentType: "text/plain"])])
        )
        let response = await provider.result(of: PlainTarget()).response?.response
        #expect(response?.statusCode == 201)
        #expect(response?.url?.absoluteString == "https://example.com/endpoint")
        #expect(response?.value(forHTTPHeaderField: "content-type") == "text/plain")
    }
}
