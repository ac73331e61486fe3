import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("RequestTask")
struct RequestTaskTests {
    struct Order: Codable, Sendable, Equatable {
        var zone = "b/c"
        var amount: Double? = 1
        var lines = ["y": 1, "x": 2, "w": 3, "v": 4]
        var note: String?
    }

    static func request(_ task: RequestTask, _ headers: [String: String]? = nil) throws -> PipelineRequest {
        try Endpoint(url: "https://example.com/p?a=b", method: .post, task: task, httpHeaderFields: headers)
            .makeRequest()
    }

    @Test("M13 A plain request has no body and no fields")
    func plain() throws {
        let request = try Self.request(.requestPlain)
        #expect(request.body.isNone)
        #expect(request.headers.isEmpty)
        #expect(request.head.path == "/p?a=b")
    }

    @Test("M14 Data is the body as it is, without a Content-Type", arguments: ["", "\u{0}\r\n"])
    func data(_ text: String) throws {
        let request = try Self.request(.requestData(Data(text.utf8)))
        #expect(request.body.bytes == Data(text.utf8))
        #expect(!request.body.isNone)
        #expect(request.headers.isEmpty)
    }

    @Test("M15 A value is JSON with its keys in order at every level")
    func jsonEncodable() throws {
        let request = try Self.request(.requestJSONEncodable(Order()))
        let json = #"{"amount":1,"lines":{"v":4,"w":3,"x":2,"y":1},"zone":"b\/c"}"#
        #expect(request.body.bytes.map { String(decoding: $0, as: UTF8.self) } == json)
        #expect(request.headers[.contentType] == "application/json")
    }

    @Test("M15 A Content-Type of the target's own stays, whatever the case of its name")
    func jsonContentType() throws {
        let request = try Self.request(.requestJSONEncodable(Order()), ["content-TYPE": "application/vnd.api+json"])
        #expect(request.headers[values: .contentType] == ["application/vnd.api+json"])
    }

    @Test("An array, a string, a number, a boolean and nil are JSON too")
    func jsonRoots() throws {
        let roots: [(any Encodable & Sendable, String)] = [
            ([1, 2], "[1,2]"), ("a", #""a""#), (1, "1"), (true, "true"), (Int?.none, "null"),
        ]
        for (value, json) in roots {
            let body = try Self.request(.requestJSONEncodable(value)).body.bytes
            #expect(body.map { String(decoding: $0, as: UTF8.self) } == json)
        }
    }

    struct Refusing: Encodable, Sendable {
        struct Reason: Error { let secret = "CANARY" }
        func encode(to encoder: any Encoder) throws { throw Reason() }
    }

    @Test("M17 A value that cannot be encoded is a typed error that names its place and not the value")
    func jsonFailure() async throws {
        struct Price: Encodable, Sendable {
            var amounts = ["net": Double.infinity]
        }
        let error = #expect(throws: PipelineError.self) { try Self.request(.requestJSONEncodable(Price())) }
        #expect(error?.code == .encoding)
        #expect(error?.reason.contains("\"amounts.net\"") == true)
        #expect(error?.underlyingError is EncodingError)

        let refused = #expect(throws: PipelineError.self) { try Self.request(.requestJSONEncodable(Refusing())) }
        #expect(refused?.code == .encoding)
        #expect(refused?.reason.contains("Refusing") == true)
        #expect(refused?.underlyingError is Refusing.Reason)
        #expect(refused?.description.contains("CANARY") == false)
    }

    @Test("M18 Parameters go where their encoding says")
    func parameters() throws {
        let query = try Self.request(.requestParameters(parameters: ["c": 1], encoding: URLEncoding.queryString))
        #expect(query.head.path == "/p?a=b&c=1")
        #expect(query.body.isNone)
        let form = try Self.request(.requestParameters(parameters: ["c": 1], encoding: URLEncoding.default))
        #expect(form.head.path == "/p?a=b")
        #expect(form.body.bytes == Data("c=1".utf8))
        let json = try Self.request(.requestParameters(parameters: ["c": 1], encoding: JSONEncoding.default))
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

    @Test("M31 A parameter encoding of a user's own writes what it likes")
    func ownEncoding() throws {
        let task = RequestTask.requestParameters(parameters: ["jsonArray": [3, 1]], encoding: ArrayEncoding())
        #expect(try Self.request(task).body.bytes == Data("[3,1]".utf8))
        #expect(try Self.request(task, ["Content-Type": "a/b"]).headers[values: .contentType] == ["a/b"])
    }

    private func failure(_ thrown: any Error, _ provider: Provider<SampleTarget>) async throws -> PipelineError {
        let encoding = ThrowingEncoding(error: thrown)
        let target = try SampleTarget { $0.task = .requestParameters(parameters: [:], encoding: encoding) }
        let error = await #expect(throws: PipelineError.self) { try await provider.request(target) }
        return try #require(error)
    }

    @Test("M19 An encoding's own error arrives underneath a typed one, a typed one as it is, and the next call works")
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

    @Test("A parameter that cannot be encoded ends the call before anything is sent, and the next call works")
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

    @Test("M20 Data goes with parameters in the query, which comes after the one that is there")
    func compositeData() throws {
        let request = try Self.request(.requestCompositeData(bodyData: Data("x".utf8), urlParameters: ["q": [1, 2]]))
        #expect(request.head.path == "/p?a=b&q%5B%5D=1&q%5B%5D=2")
        #expect(request.body.bytes == Data("x".utf8))
        #expect(request.headers.isEmpty)
    }

    @Test("M21 Parameters of the body and of the query each go where they belong")
    func compositeParameters() throws {
        let json = RequestTask.requestCompositeParameters(
            bodyParameters: ["Nemesis": "Harvey"],
            bodyEncoding: JSONEncoding.default,
            urlParameters: ["Harvey": "Nemesis"]
        )
        let request = try Self.request(json)
        #expect(request.head.path == "/p?a=b&Harvey=Nemesis")
        #expect(request.body.bytes == Data(#"{"Nemesis":"Harvey"}"#.utf8))
        #expect(request.headers[.contentType] == "application/json")

        let form = RequestTask.requestCompositeParameters(
            bodyParameters: ["a": "b c"],
            bodyEncoding: URLEncoding.httpBody,
            urlParameters: [:]
        )
        #expect(try Self.request(form).body.bytes == Data("a=b%20c".utf8))
        #expect(try Self.request(form).head.path == "/p?a=b")
    }

    @Test(
        "M22 B-M17 A body encoding that would write to the URL is an error, also without parameters",
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
            #expect { try Self.request(task) } throws: { ($0 as? PipelineError)?.code == .encoding }
        }
        let byMethod = RequestTask.requestCompositeParameters(
            bodyParameters: parameters,
            bodyEncoding: URLEncoding.default,
            urlParameters: [:]
        )
        #expect(try !Self.request(byMethod).body.isNone)
    }

    @Test("Ruling 16: body parameters are a form for every method that carries a body, and an error for the others")
    func compositeByMethod() throws {
        for encoding in [URLEncoding.default, URLEncoding.httpBody, JSONEncoding.default] as [any ParameterEncoding] {
            let task = RequestTask.requestCompositeParameters(
                bodyParameters: ["a": "b"],
                bodyEncoding: encoding,
                urlParameters: ["c": "d"]
            )
            for method in [HTTPMethod.post, .put, .patch, .delete, .options] {
                let request = try Endpoint(url: "https://example.com/p", method: method, task: task).makeRequest()
                #expect(request.query == "c=d")
                let isJSON = encoding is JSONEncoding
                #expect(request.body.bytes == Data((isJSON ? #"{"a":"b"}"# : "a=b").utf8), "\(method)")
            }
            for method in [HTTPMethod.get, .head, .trace] {
                let error = #expect(throws: PipelineError.self) {
                    try Endpoint(url: "https://example.com/p", method: method, task: task).makeRequest()
                }
                #expect(error?.code == .invalidRequest(.body))
            }
        }
    }

    @Test("M23 A file is the body, without a Content-Type")
    func uploadFile() async throws {
        let folder = try TemporaryFolder()
        try folder.write("content", to: "a.png")
        let request = try Self.request(.uploadFile(folder.file("a.png")))
        #expect(request.body.fileURL == folder.file("a.png"))
        #expect(request.body.isReplayable)
        #expect(request.headers.isEmpty)
        #expect(try await request.body.collect(upTo: 100) == Data("content".utf8))
    }

    @Test("A file that cannot be sent is an error before anything is, and its path is not in the text")
    func unreadableFile() throws {
        let folder = try TemporaryFolder()
        let missing = folder.file("missing")
        let remote = try #require(URL(string: "https://example.com/etc/passwd"))
        let rows: [(URL, PipelineError.Code)] = [
            (missing, .file(.unreadable)), (folder.url, .file(.directory)), (remote, .file(.unreadable)),
            (URL(filePath: "/dev/null"), .file(.unreadable)),
        ]
        for (url, code) in rows {
            #expect {
                try Self.request(.uploadFile(url))
            } throws: { error in
                (error as? PipelineError)?.code == code && !"\(error)".contains(url.deletingLastPathComponent().path)
            }
        }
        #expect { try Self.request(.uploadFile(missing)) } throws: { !"\($0)".contains(folder.url.path) }
    }

    @Test("A file that is to be sent as a stream, or by a plugin, is looked at before the transport is asked")
    func fileBodies() async throws {
        let folder = try TemporaryFolder()
        let remote = try #require(URL(string: "https://example.com/etc/passwd"))
        let rows: [(URL, PipelineError.Code)] = [
            (folder.file("missing"), .file(.unreadable)), (folder.url, .file(.directory)), (remote, .file(.unreadable)),
            (URL(filePath: "/dev/zero"), .file(.unreadable)),
        ]
        for (url, code) in rows {
            let transport = ScriptedTransport(always: .status(200))
            let stream = TestTarget(method: .post, task: .requestStream(.file(url)))
            let error = await pipelineError { _ = try await Provider<TestTarget>(transport: transport).request(stream) }
            #expect(error?.code == code)
            let plugin = PreparePlugin.prepare { request, _ in request.body = .file(url) }
            let provider = Provider<TestTarget>(transport: transport, plugins: [plugin])
            let other = await pipelineError { _ = try await provider.request(TestTarget(method: .post)) }
            #expect(other?.code == code)
            #expect(transport.sent.isEmpty)
        }
    }

    @Test("Neither a task nor what it carries shows a value, as text or in dump")
    func descriptions() {
        let secret = "s3cr3t"
        let parts = [MultipartFormBodyPart(.bytes(Data(secret.utf8)), name: "f")]
        let tasks: [RequestTask] = [
            .requestPlain, .requestData(Data(secret.utf8)), .requestJSONEncodable([secret]),
            .requestQuery(["a": secret]),
            .requestParameters(parameters: ["a": secret], encoding: JSONEncoding.default),
            .requestCompositeData(bodyData: Data(secret.utf8), urlParameters: ["a": secret]),
            .uploadFile(URL(filePath: "/\(secret)")), .requestStream(.bytes(Data(secret.utf8))),
            .uploadMultipartFormData(MultipartFormData(parts: parts)),
            .downloadDestination(.file(URL(filePath: "/\(secret)"))),
        ]
        for task in tasks {
            var dumped = ""
            dump(task, to: &dumped)
            #expect(!"\(task)\(dumped)".contains(secret) && !"\(task)".isEmpty)
        }
        for value in [parts[0].body, parts[0], parts] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            #expect(!"\(value)\(dumped)".contains(secret) && !dumped.contains("115"))
        }
        #expect("\(PipelineBody.none), \(PipelineBody.bytes(Data(count: 3)))" == "no body, 3 bytes")
        #expect("\(PipelineBody.file(URL(filePath: "/nowhere")))" == "a file")
        #expect("\(PipelineBody.stream(byteCount: 7) { AsyncStream<Data> { $0.finish() } })" == "a stream of 7 bytes")
    }

    @Test("A stream is the body as it is", arguments: [nil, 5])
    func requestStream(_ byteCount: Int?) throws {
        let stream = PipelineBody.stream(byteCount: byteCount) { AsyncStream<Data> { $0.finish() } }
        let request = try Self.request(.requestStream(stream))
        #expect(request.body.byteCount == byteCount)
        #expect(request.body.isReplayable)
        #expect(request.headers.isEmpty)
    }

    @Test(
        "B-M17 A method that carries no body refuses an upload",
        arguments: ["GET", "HEAD", "TRACE", "POST", "DELETE", "X"]
    )
    func bodilessMethod(_ name: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("content", to: "a")
        let method = try #require(HTTPMethod(name))
        for task in [RequestTask.uploadFile(folder.file("a")), .requestStream(.bytes(Data()))] {
            let endpoint = Endpoint(url: "https://example.com", method: method, task: task)
            let isRefused = ["GET", "HEAD", "TRACE"].contains(name)
            var code: PipelineError.Code?
            do { _ = try endpoint.makeRequest() } catch { code = (error as? PipelineError)?.code }
            #expect(code == (isRefused ? .invalidRequest(.body) : nil))
        }
    }

    @Test("M27 M28 A download carries only its parameters")
    func download() throws {
        let destination = DownloadDestination.file(URL(filePath: "/nowhere/a"))
        let plain = try Self.request(.downloadDestination(destination))
        #expect(plain.body.isNone && plain.headers.isEmpty && plain.head.path == "/p?a=b")
        let task = RequestTask.downloadParameters(
            parameters: ["c": 1],
            encoding: JSONEncoding.default,
            destination: destination
        )
        #expect(try Self.request(task).body.bytes == Data(#"{"c":1}"#.utf8))
    }
}
