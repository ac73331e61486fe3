import Foundation
import PipelineMoya
import TestSupport
import Testing

@Suite(.watched) struct MoyaEndpointTests {
    @Test("M73: added header fields override those of the same name; without any, the fields stay")
    func addedFields() {
        let endpoint = Endpoint.make(headers: ["Title": "Dominar"])
        #expect(
            endpoint.adding(newHTTPHeaderFields: ["Title": "New", "A": "b"]).httpHeaderFields
                == ["Title": "New", "A": "b"]
        )
        #expect(endpoint.adding(newHTTPHeaderFields: [:]).httpHeaderFields == ["Title": "Dominar"])
        #expect(Endpoint.make(headers: nil).adding(newHTTPHeaderFields: [:]).httpHeaderFields == nil)
    }

    @Test("M74: a copy with another task keeps the other values")
    func replacedTask() {
        let endpoint = Endpoint.make(method: .post).replacing(task: .requestData(Data("x".utf8)))
        #expect(endpoint.method == .post)
        #expect(endpoint.url == "https://example.com")
        #expect((try? endpoint.urlRequest())?.httpBody == Data("x".utf8))
    }

    @Test("M82, M83: a provider makes equal endpoints for equal targets")
    func defaultMapping() throws {
        let provider = MoyaProvider<GitHub>()
        let endpoint = provider.endpoint(.zen)
        #expect(endpoint == MoyaProvider.defaultEndpointMapping(for: GitHub.zen))
        #expect(endpoint.url == "https://api.github.com/zen")
        guard case .networkResponse(200, let data) = endpoint.sampleResponseClosure() else {
            Issue.record("another sample")
            return
        }
        #expect(data == GitHub.zen.sampleData)
    }

    @Test("M29: an invalid URL fails with that text")
    func invalidURL() {
        #expect(throws: MoyaError.self) { try Endpoint.make(url: "some invalid URL").urlRequest() }
        MoyaProvider<GitHub>.defaultRequestMapping(for: .make(url: "some invalid URL")) { result in
            guard case .failure(.requestMapping("some invalid URL")) = result else {
                Issue.record("\(result)")
                return
            }
        }
    }

    @Test("M84: an encoding error of parameters passes through the request mapping, one of a value is wrapped")
    func requestMappingErrors() {
        let parameters = Endpoint.make(
            .requestParameters(parameters: ["a": NSObject()], encoding: JSONEncoding.default)
        )
        MoyaProvider<GitHub>.defaultRequestMapping(for: parameters) { result in
            guard case .failure(.parameterEncoding) = result else {
                Issue.record("\(result)")
                return
            }
        }
        MoyaProvider<GitHub>.defaultRequestMapping(for: .make(.requestJSONEncodable(Float.infinity))) { result in
            guard case .failure(.underlying(MoyaError.encodableMapping, nil)) = result else {
                Issue.record("\(result)")
                return
            }
        }
    }

    @Test("M76, M79: endpoints with equal requests are equal and have equal hashes")
    func equality() {
        let json = PipelineMoya.Task.requestParameters(parameters: ["a": 1, "b": 2], encoding: JSONEncoding.default)
        #expect(Endpoint.make(json) == .make(json))
        #expect(Endpoint.make(json).hashValue == Endpoint.make(json).hashValue)
        let form: MultipartFormData = [MultipartFormBodyPart(provider: .data(Data("x".utf8)), name: "a")]
        #expect(Endpoint.make(.uploadMultipartFormData(form)) == .make(.uploadMultipartFormData(form)))
        let file = URL(fileURLWithPath: "/tmp/a")
        #expect(Endpoint.make(.uploadFile(file)) == .make(.uploadFile(file)))
    }

    @Test("M04: endpoints with equal JSON of a custom encoder are equal, in whatever order their keys were added")
    func customJSONEquality() throws {
        let names = (0..<20).map { "key\($0)" }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        func endpoint(_ names: [String], _ count: Int = 1) -> Endpoint {
            var values: [String: Int] = [:]
            for name in names { values[name] = count }
            return .make(.requestCustomJSONEncodable(values, encoder: encoder))
        }
        let first = endpoint(names)
        let second = endpoint(names.reversed())
        #expect(try first.urlRequest().httpBody == second.urlRequest().httpBody)
        #expect(first == second)
        #expect(first.hashValue == second.hashValue)
        #expect(first != endpoint(names, 2))
        #expect(encoder.outputFormatting == [])
    }

    @Test("M16: a custom encoder keeps its strategies; a subclass encodes as it likes")
    func customEncoder() throws {
        final class Own: JSONEncoder, @unchecked Sendable {
            override func encode<T: Encodable>(_ value: T) throws -> Data { Data("own".utf8) }
        }
        struct Value: Encodable {
            var atDate = Date(timeIntervalSince1970: 1)
            var bytes = Data([1])
            var ratio = Double.infinity
        }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.dataEncodingStrategy = .custom { data, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(encoder.userInfo.isEmpty ? "" : "\(data.count)")
        }
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.nonConformingFloatEncodingStrategy =
            .convertToString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        encoder.userInfo[try #require(CodingUserInfoKey(rawValue: "a"))] = 1
        encoder.outputFormatting = .withoutEscapingSlashes
        let body = try Endpoint.make(.requestCustomJSONEncodable(Value(), encoder: encoder)).urlRequest().httpBody
        #expect(body == Data(#"{"at_date":1,"bytes":"1","ratio":"inf"}"#.utf8))
        let own = try Endpoint.make(.requestCustomJSONEncodable(Value(), encoder: Own())).urlRequest().httpBody
        #expect(own == Data("own".utf8))
    }

    @Test("M76: endpoints that differ in URL, method, header fields, body, query, file or form are not equal")
    func inequality() {
        let plain = Endpoint.make()
        #expect(plain != .make(url: "https://example.org"))
        #expect(plain != .make(method: .post))
        #expect(plain != .make(headers: ["Title": "Other"]))
        #expect(plain != .make(.requestData(Data("x".utf8))))
        #expect(plain != .make(.requestParameters(parameters: ["a": 1], encoding: URLEncoding.queryString)))
        #expect(
            Endpoint.make(.uploadFile(URL(fileURLWithPath: "/a"))) != .make(.uploadFile(URL(fileURLWithPath: "/b")))
        )
        let form: MultipartFormData = [MultipartFormBodyPart(provider: .data(Data("x".utf8)), name: "a")]
        let other: MultipartFormData = [MultipartFormBodyPart(provider: .data(Data("x".utf8)), name: "b")]
        #expect(Endpoint.make(.uploadMultipartFormData(form)) != .make(.uploadMultipartFormData(other)))
    }

    @Test("M77: endpoints that differ only in the destination of a download are equal")
    func downloads() {
        let one = PipelineMoya.Task.downloadDestination { file, _ in (file, []) }
        let other = PipelineMoya.Task.downloadDestination { file, _ in (file, .removePreviousFile) }
        #expect(Endpoint.make(one) == .make(other))
    }

    @Test("M78: an endpoint without a request equals one with the same URL, and none with a request")
    func invalidEndpoints() {
        #expect(Endpoint.make(url: "some invalid URL") == .make(url: "some invalid URL"))
        #expect(Endpoint.make(url: "some invalid URL") != .make(url: "other invalid URL"))
        #expect(Endpoint.make(url: "some invalid URL") != .make())
    }
}
