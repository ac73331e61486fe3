import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

// The samples of the guide Requests for custom content.

// sample: own content
struct GraphQL: RequestContent, Encodable {
    let query: String
    var variables: [String: String] = [:]

    func encode(into request: inout PipelineRequest, context: RequestTask.EncodingContext) throws {
        try request.requireBodyCarryingMethod()
        request.body = .bytes(try context.makeJSONEncoder(self).encode(self))
        request.setContentTypeIfAbsent("application/json")
    }
}

extension RequestTask {
    static func graphQL(_ query: String, variables: [String: String] = [:]) -> RequestTask {
        RequestTask(GraphQL(query: query, variables: variables))
    }
}
// end

private enum ContentSamples {
    // sample: own task
    struct BookTitle: TargetType {
        let id: String

        var baseURL: URL { Endpoint.url("https://books.example") }
        var path: String { "graphql" }
        var method: HTTPMethod { .post }
        var task: RequestTask {
            .graphQL("query Q($id: ID!) { book(id: $id) { title } }", variables: ["id": id])
        }
    }
    // end
}

@Suite("The samples of the guide Requests: custom content", .watched)
struct ContentSamplesTests {
    private typealias BookTitle = ContentSamples.BookTitle

    private static let json = #"{"query":"query Q($id: ID!) { book(id: $id) { title } }","variables":{"id":"canary"}}"#

    private func text(_ request: PipelineRequest?) -> String? {
        request?.body.bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("A GraphQL query is sent as JSON, directly and wrapped in a MultiTarget")
    func encodes() async throws {
        let transport = ScriptedTransport(always: .status(200, body: #"{"data":{}}"#))
        _ = try await Provider<BookTitle>(transport: transport).request(BookTitle(id: "canary"))
        let any = Provider<MultiTarget>(transport: transport)
        _ = try await any.request(BookTitle(id: "canary"))
        _ = try await any.request(MultiTarget(MultiTarget(BookTitle(id: "canary"))))
        #expect(transport.sent.count == 3)
        for request in transport.sent {
            #expect(text(request) == Self.json)
            #expect(request.headers[values: .contentType] == ["application/json"])
            #expect(request.url?.absoluteString == "https://books.example/graphql")
        }
    }

    @Test("The task's description is the name of its type, without a value")
    func description() {
        let task = BookTitle(id: "canary").task
        #expect(task.kind == RequestTask.Kind("GraphQL") && "\(task)" == "GraphQL")
        var dumped = ""
        dump(Endpoint(BookTitle(id: "canary")), to: &dumped)
        dump(task, to: &dumped)
        #expect(dumped.contains("GraphQL") && !dumped.contains("canary"))
    }

    @Test("The response of a query is saved to a file")
    func downloads() async throws {
        let folder = try TemporaryFolder()
        let transport = ScriptedTransport(always: .status(200, body: #"{"data":{}}"#))
        let task = RequestTask(GraphQL(query: "{ books { title } }"), destination: .file(folder.file("books.json")))
        let target = URLTarget("https://books.example/graphql", method: .post, task: task)
        let response = try await Provider<URLTarget>(transport: transport).request(target)
        #expect(response.body.fileURL == folder.file("books.json"))
        #expect(folder.text(of: "books.json") == #"{"data":{}}"#)
        #expect(text(transport.sent.first) == #"{"query":"{ books { title } }","variables":{}}"#)
    }
}
