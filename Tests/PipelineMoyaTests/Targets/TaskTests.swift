import Foundation
import PipelineMoya
import PipelineTesting
import TestSupport
import Testing

@Suite(.watched) struct MoyaTaskTests {
    private struct Issue18: Codable {
        let title: String
        let createdAt: Date
    }

    private func request(
        _ task: PipelineMoya.Task,
        _ headers: [String: String]? = ["Title": "Dominar"]
    ) throws -> URLRequest {
        try Endpoint.make(task, method: .post, headers: headers).urlRequest()
    }

    @Test("M13, M23, M24, M27: tasks without parameters leave the request as it is")
    func plainTasks() throws {
        let form: MultipartFormData = [MultipartFormBodyPart(provider: .data(Data()), name: "a")]
        let tasks: [PipelineMoya.Task] = [
            .requestPlain, .uploadFile(URL(fileURLWithPath: "/a")), .uploadMultipartFormData(form),
            .uploadMultipart(form.parts), .downloadDestination { file, _ in (file, []) },
        ]
        for task in tasks {
            let request = try request(task)
            #expect(request.url?.absoluteString == "https://example.com")
            #expect(request.httpMethod == "POST")
            #expect(request.httpBody == nil)
            #expect(request.allHTTPHeaderFields == ["Title": "Dominar"])
        }
    }

    @Test("M14: bytes become the body, without a Content-Type")
    func data() throws {
        let request = try request(.requestData(Data("bytes".utf8)))
        #expect(request.httpBody == Data("bytes".utf8))
        #expect(request.value(forHTTPHeaderField: "Content-Type") == nil)
    }

    @Test("M15: a value becomes JSON, with a Content-Type unless there is one in any case")
    func encodable() throws {
        let request = try request(.requestJSONEncodable(["title": "x"]))
        #expect(request.httpBody == Data(#"{"title":"x"}"#.utf8))
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
        let own = try self.request(.requestJSONEncodable(["a": 1]), ["content-type": "application/vnd.api+json"])
        #expect(own.value(forHTTPHeaderField: "Content-Type") == "application/vnd.api+json")
    }

    @Test("M16: a value is encoded by the given encoder")
    func customEncoder() throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = .sortedKeys
        let value = Issue18(title: "x", createdAt: Date(timeIntervalSince1970: 5))
        let request = try request(.requestCustomJSONEncodable(value, encoder: encoder))
        #expect(request.httpBody == Data(#"{"created_at":5,"title":"x"}"#.utf8))
    }

    @Test("M17: a value that cannot be encoded fails with encodableMapping")
    func encodableMapping() {
        do {
            _ = try request(.requestJSONEncodable(["a": Float.infinity]))
            Issue.record("no error")
        } catch MoyaError.encodableMapping(let error) {
            #expect(error is EncodingError)
        } catch {
            Issue.record(error)
        }
    }

    @Test("M18: parameters are written as the encoding alone would write them")
    func parameters() throws {
        let parameters: [String: Any] = ["Nemesis": "Harvey"]
        let request = try request(.requestParameters(parameters: parameters, encoding: JSONEncoding.default))
        let expected = try JSONEncoding.default.encode(try self.request(.requestPlain), with: parameters)
        #expect(request == expected)
        #expect(request.httpBody == Data(#"{"Nemesis":"Harvey"}"#.utf8))
    }

    @Test("M19: parameters that cannot be encoded fail with parameterEncoding")
    func parameterEncoding() {
        do {
            _ = try request(.requestParameters(parameters: ["a": NSObject()], encoding: JSONEncoding.default))
            Issue.record("no error")
        } catch MoyaError.parameterEncoding {
        } catch {
            Issue.record(error)
        }
    }

    @Test("M20: composite data has the bytes as body and the parameters in the query")
    func compositeData() throws {
        let request = try request(
            .requestCompositeData(bodyData: Data("test data".utf8), urlParameters: ["Nemesis": "Harvey"])
        )
        #expect(request.httpBody == Data("test data".utf8))
        #expect(request.url?.absoluteString == "https://example.com?Nemesis=Harvey")
        #expect(request.allHTTPHeaderFields == ["Title": "Dominar"])
    }

    @Test("M21: composite parameters are encoded into body and query")
    func compositeParameters() throws {
        let request = try request(
            .requestCompositeParameters(
                bodyParameters: ["Nemesis": "Harvey"],
                bodyEncoding: JSONEncoding.default,
                urlParameters: ["Harvey": "Nemesis"]
            )
        )
        #expect(request.httpBody == Data(#"{"Nemesis":"Harvey"}"#.utf8))
        #expect(request.url?.absoluteString == "https://example.com?Harvey=Nemesis")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
    }

    @Test("M22: a body encoding that writes to the query is an error, where Moya stops the program")
    func queryAsBody() throws {
        func task(_ encoding: URLEncoding) -> PipelineMoya.Task {
            .requestCompositeParameters(bodyParameters: ["a": 1], bodyEncoding: encoding, urlParameters: [:])
        }
        #expect(throws: MoyaError.self) { try request(task(.default)) }
        #expect(throws: MoyaError.self) { try request(task(.queryString)) }
        #expect(try request(task(.httpBody)).httpBody == Data("a=1".utf8))
    }

    @Test("M26: the parameters of a composite form go into the query")
    func compositeForm() throws {
        let form: MultipartFormData = [MultipartFormBodyPart(provider: .data(Data()), name: "a")]
        let parameters: [String: Any] = ["tags": ["x", "y"], "on": true]
        let tasks: [PipelineMoya.Task] = [
            .uploadCompositeMultipartFormData(form, urlParameters: parameters),
            .uploadCompositeMultipart(form.parts, urlParameters: parameters),
        ]
        for task in tasks {
            #expect(try request(task).url?.query == "on=1&tags%5B%5D=x&tags%5B%5D=y")
        }
    }

    @Test("M28: the parameters of a download are encoded")
    func downloadParameters() throws {
        let task = PipelineMoya.Task.downloadParameters(
            parameters: ["Nemesis": "Harvey"],
            encoding: JSONEncoding.default,
            destination: { file, _ in (file, []) }
        )
        #expect(try request(task).httpBody == Data(#"{"Nemesis":"Harvey"}"#.utf8))
    }

    @Test("M15, M18: bodies and header fields arrive at the transport")
    func sentRequests() async {
        let transport = ScriptedTransport(always: .status(200))
        let provider = MoyaProvider<MyService>(transport: transport)
        _ = await provider.result(of: .createUser(firstName: "Ada", lastName: "Lovelace"))
        _ = await provider.result(of: .updateUser(id: 3, firstName: "A", lastName: "B C"))
        let sent = transport.sent
        #expect(sent.first?.body.bytes == Data(#"{"first_name":"Ada","last_name":"Lovelace"}"#.utf8))
        #expect(sent.first?.method == .post)
        #expect(sent.first?.header("Content-Type") == "application/json")
        #expect(sent.last?.head.path == "/users/3?first_name=A&last_name=B%20C")
    }

    @Test("M59, M60, M62: a form arrives as multipart/form-data with its own Content-Type, also after a plugin")
    func multipart() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = MoyaProvider<MyService>(transport: transport, plugins: [AuthPlugin(tokenClosure: { "t" })])
        let target = MyService.uploadAvatar(Data("bytes".utf8))
        #expect(await provider.result(of: target).text == "200")
        let sent = try #require(transport.sent.first)
        let type = try #require(sent.header("Content-Type"))
        #expect(type.hasPrefix("multipart/form-data; boundary="))
        let text = String(decoding: try await sent.body.collect(upTo: 10_000), as: UTF8.self)
        #expect(text.contains("Content-Disposition: form-data; name=\"avatar\"; filename=\"me.jpg\"\r\n"))
        #expect(text.contains("Content-Type: image/jpeg\r\n\r\nbytes\r\n--"))
        #expect(sent.header("Authorization") == "Bearer t")
        #expect(sent.header("User-Agent") == "MyService/1.0")
    }

    @Test("M59: a part may be a stream")
    func multipartStream() async throws {
        let transport = ScriptedTransport(
            always: .answer { request, _ in
                let body = try await request.body.collect(upTo: 10_000)
                return .init(request: request, statusCode: 200, data: body)
            }
        )
        let provider = MoyaProvider<PlainTarget>(transport: transport)
        let stream = InputStream(data: Data("streamed".utf8))
        let form = MultipartFormData(
            boundary: "B",
            parts: [
                MultipartFormBodyPart(
                    provider: .stream(stream, 8),
                    name: "s",
                    fileName: "s.txt",
                    mimeType: "text/plain"
                )
            ]
        )
        let target = PlainTarget(method: .put, task: .uploadMultipartFormData(form))
        let text = try await provider.result(of: target).get().mapString()
        #expect(
            text == "--B\r\nContent-Disposition: form-data; name=\"s\"; filename=\"s.txt\"\r\n"
                + "Content-Type: text/plain\r\n\r\nstreamed\r\n--B--\r\n"
        )
    }

    @Test("M69: a form without parts, or with a method that has none, fails, where Moya stops the program")
    func refusedForms() async {
        let provider = MoyaProvider<PlainTarget>(transport: ScriptedTransport([]))
        let form: MultipartFormData = [MultipartFormBodyPart(provider: .data(Data()), name: "a")]
        let get = await provider.result(of: PlainTarget(method: .get, task: .uploadMultipartFormData(form)))
        let empty = await provider.result(of: PlainTarget(method: .post, task: .uploadMultipartFormData([])))
        #expect(get.error != nil)
        #expect(empty.error != nil)
    }
}
