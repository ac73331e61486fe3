import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("RequestTask", .watched)
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
        #expect(request.body.isAbsent)
        #expect(request.headers.isEmpty)
        #expect(request.head.path == "/p?a=b")
    }

    @Test("M20 Data is sent with parameters that are appended to the query")
    func compositeData() throws {
        let request = try Self.request(.requestCompositeData(bodyData: Data("x".utf8), urlParameters: ["q": [1, 2]]))
        #expect(request.head.path == "/p?a=b&q%5B%5D=1&q%5B%5D=2")
        #expect(request.body.bytes == Data("x".utf8))
        #expect(request.headers.isEmpty)
    }

    @Test("The description and dump of a task, a part or a body show no value")
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
        #expect("\(PipelineBody.absent), \(PipelineBody.bytes(Data(count: 3)))" == "no body, 3 bytes")
        #expect("\(PipelineBody.file(URL(filePath: "/nowhere")))" == "a file")
        #expect("\(PipelineBody.stream(byteCount: 7) { AsyncStream<Data> { $0.finish() } })" == "a stream of 7 bytes")
    }

    @Test("M27 M28 A download carries only its parameters")
    func download() throws {
        let destination = DownloadDestination.file(URL(filePath: "/nowhere/a"))
        let plain = try Self.request(.downloadDestination(destination))
        #expect(plain.body.isAbsent && plain.headers.isEmpty && plain.head.path == "/p?a=b")
        let task = RequestTask.downloadParameters(
            parameters: ["c": 1],
            encoding: JSONEncoding.default,
            destination: destination
        )
        #expect(try Self.request(task).body.bytes == Data(#"{"c":1}"#.utf8))
    }
}
