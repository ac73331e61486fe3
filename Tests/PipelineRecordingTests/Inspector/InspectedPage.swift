import Foundation
import PipelineRecording
import Testing

/// The document in a page of the inspector.
struct InspectedPage: Decodable {
    struct Log: Decodable {
        let entries: [Entry]
        let _pipeline: Facts
    }
    struct Facts: Decodable {
        let program: String?
        let calls: [Call]
        let live: Bool
        let version: Int
        let droppedCalls: Int
        let removed: [Int]?
    }
    struct Failure: Decodable, Equatable {
        let code: String
        let text: String
        let plugin: String?
    }
    struct Span: Decodable {
        let id: Int
        let parent: Int?
        let kind: String
        let name: String
    }
    struct Call: Decodable {
        let id: Int
        let parent: Int?
        let target: String
        let method: String
        let url: String
        let startedDateTime: String
        let duration: Double?
        let status: Int?
        let error: Failure?
        let joined: Bool?
        let source: String?
        let cacheStatus: String?
        let response: Response?
        let spans: [Span]?
        let notes: [String]?
    }
    struct Content: Decodable {
        let text: String?
        let comment: String?
    }
    struct Response: Decodable {
        let status: Int
        let content: Content
    }
    struct PostData: Decodable { let text: String? }
    struct Request: Decodable {
        let url: String
        let postData: PostData?
    }
    struct Place: Decodable {
        let call: Int
        let attempt: Int
        let hop: Int
        let replayed: Bool?
        let refusedRetry: String?
        let refusedRedirect: String?
        let bodyNote: String?
    }
    struct Entry: Decodable {
        let startedDateTime: String
        let time: Double
        let timings: [String: Double]
        let request: Request
        let response: Response
        let _pipeline: Place
    }

    let log: Log

    var calls: [Call] { log._pipeline.calls }
    var entries: [Entry] { log.entries }

    /// Returns the document of a page.
    static func of(_ html: String) throws -> InspectedPage {
        let start = try #require(html.range(of: #"<script type="application/json" id="data">"#)?.upperBound)
        let end = try #require(html.range(of: "</script>", range: start..<html.endIndex)?.lowerBound)
        return try JSONDecoder().decode(InspectedPage.self, from: Data(html[start..<end].utf8))
    }

    /// Returns the document in a file.
    static func of(_ file: URL) throws -> InspectedPage { try of(String(contentsOf: file, encoding: .utf8)) }
}
