import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("The kinds of tasks listed on Moya's page on targets", .realTime, .watched)
struct TaskExampleTests {
    struct Service: TargetType {
        var method = HTTPMethod.post
        var task: RequestTask
        var baseURL: URL { Endpoint.url("https://api.myservice.com") }
        var path: String { "/items" }
    }

    struct Item: Codable, Sendable {
        let title: String
    }

    static let line = "POST https://api.myservice.com/items"
    static let jsonField = ["Content-Type: application/json"]
    static let formField = ["Content-Type: application/x-www-form-urlencoded; charset=utf-8"]

    static let tasks: [(RequestTask, ExampleRequest)] = [
        (.requestPlain, ExampleRequest(line)),
        (.requestData(Data("raw".utf8)), ExampleRequest(line, body: "raw")),
        (.requestJSONEncodable(Item(title: "a")), ExampleRequest(line, jsonField, body: #"{"title":"a"}"#)),
        (
            .requestParameters(parameters: ["q": "a b", "n": 1], encoding: URLEncoding.default),
            ExampleRequest(line, formField, body: "n=1&q=a%20b")
        ),
        (
            .requestParameters(parameters: ["q": "a b", "n": 1], encoding: URLEncoding.queryString),
            ExampleRequest(line + "?n=1&q=a%20b")
        ),
        (
            .requestParameters(parameters: ["q": "a b", "n": 1], encoding: JSONEncoding.default),
            ExampleRequest(line, jsonField, body: #"{"n":1,"q":"a b"}"#)
        ),
        (
            .requestCompositeData(bodyData: Data("raw".utf8), urlParameters: ["page": 2]),
            ExampleRequest(line + "?page=2", body: "raw")
        ),
        (
            .requestCompositeParameters(
                bodyParameters: ["title": "a"],
                bodyEncoding: JSONEncoding.default,
                urlParameters: ["page": 2]
            ),
            ExampleRequest(line + "?page=2", jsonField, body: #"{"title":"a"}"#)
        ),
        (
            .requestCompositeParameters(
                bodyParameters: ["title": "a"],
                bodyEncoding: URLEncoding.httpBody,
                urlParameters: ["page": 2]
            ),
            ExampleRequest(line + "?page=2", formField, body: "title=a")
        ),
        (
            .requestCustomJSONEncodable(Item(title: "a/b"), encoder: plainSlashes),
            ExampleRequest(line, jsonField, body: #"{"title":"a/b"}"#)
        ),
        (
            .requestParameters(parameters: ["a": 1], encoding: PropertyListEncoding.xml),
            ExampleRequest(line, ["Content-Type: application/x-plist"], body: propertyList)
        ),
        (.requestQuery(Item(title: "a b")), ExampleRequest(line + "?title=a%20b")),
        (.requestFormURLEncodable(Item(title: "a b")), ExampleRequest(line, formField, body: "title=a%20b")),
        (.requestStream(.bytes(Data("streamed".utf8))), ExampleRequest(line, body: "streamed")),
    ]

    static let plainSlashes: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return encoder
    }()

    static let propertyList = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>a</key>
        \t<integer>1</integer>
        </dict>
        </plist>

        """

    @Test("Each kind produces the expected request", arguments: 0..<tasks.count)
    func task(_ row: Int) async throws {
        let (task, expected) = Self.tasks[row]
        try await expectRequest(of: Service(task: task), expected)
    }

    @Test("uploadFile sends the bytes of the file")
    func uploadFile() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "example-\(UUID().uuidString)")
        try Data("of a file".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await expectRequest(
            of: Service(method: .put, task: .uploadFile(file)),
            ExampleRequest("PUT https://api.myservice.com/items", body: "of a file")
        )
    }

    @Test("Downloads produce requests with and without parameters")
    func downloads() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "example-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let destination = DownloadDestination.file(file, options: .removePreviousFile)
        try await expectRequest(
            of: Service(method: .get, task: .downloadDestination(destination)),
            ExampleRequest("GET https://api.myservice.com/items")
        )
        try await expectRequest(
            of: Service(
                method: .get,
                task: .downloadParameters(
                    parameters: ["size": "large"],
                    encoding: URLEncoding.default,
                    destination: destination
                )
            ),
            ExampleRequest("GET https://api.myservice.com/items?size=large")
        )
        #expect(try Data(contentsOf: file) == Data("ok".utf8))
    }
}
