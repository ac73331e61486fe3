import Foundation
import Pipeline
import PipelineCombine
import TestSupport
import Testing

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@Suite("Publishers of responses: filters and mappings", .watched)
struct PublisherPipelineResponseTests {
    typealias Responses = AnyPublisher<PipelineResponse, PipelineError>

    func response(_ statusCode: Int = 200, _ body: String = "") throws -> Responses {
        let request = try PipelineRequest(url: "https://library.example/v1/books/3")
        return Just(PipelineResponse(request: request, statusCode: statusCode, data: Data(body.utf8)))
            .setFailureType(to: PipelineError.self)
            .eraseToAnyPublisher()
    }

    static let filters: [(@Sendable (Responses) -> Responses, ClosedRange<Int>)] = [
        ({ $0.filter(statusCodes: 404..<405) }, 404...404),
        ({ $0.filter(statusCode: 304) }, 304...304),
        ({ $0.filterSuccessfulStatusCodes() }, 200...299),
        ({ $0.filterSuccessfulStatusAndRedirectCodes() }, 200...399),
    ]

    @Test("M181 A filter passes its statuses through and fails for others, with the response", arguments: 0..<4)
    func filter(_ row: Int) async throws {
        let (filter, accepted) = Self.filters[row]
        for status in [199, 200, 299, 300, 303, 304, 399, 400, 404, 405] {
            let outcome = await Outcome.of(filter(try response(status)))
            #expect(outcome.values.map(\.statusCode) == (accepted.contains(status) ? [status] : []))
            #expect(outcome.failure?.code == (accepted.contains(status) ? nil : .unacceptableStatus))
            #expect(outcome.failure?.response?.statusCode == (accepted.contains(status) ? nil : status))
        }
    }

    @Test("M181 Mappings publish the same results as the methods of the response")
    func mappings() async throws {
        let body = #"{"data":{"title":"Solaris"}}"#
        #expect(await Outcome.of(try response(200, "text").mapString()).values == ["text"])
        #expect(await Outcome.of(try response(200, body).mapString(atKeyPath: "data.title")).values == ["Solaris"])
        let book = await Outcome.of(try response(200, body).map(Book.self, atKeyPath: "data"))
        #expect(book.values == [Book(title: "Solaris")])
        let whole = await Outcome.of(try response(200, #"{"title":"Fiasco"}"#).map(Book.self))
        #expect(whole.values == [Book(title: "Fiasco")])
        let json = await Outcome.of(try response(200, "[1,2]").mapJSON().map { $0 as? [Int] ?? [] })
        #expect(json.values == [[1, 2]])
    }

    @Test("M181 A mapping passes its arguments on")
    func arguments() async throws {
        let null = await Outcome.of(try response(204).mapJSON(failsOnEmptyData: false).map { $0 is NSNull })
        #expect(null.values == [true])
        let books = await Outcome.of(try response(204).map([Book].self, failsOnEmptyData: false))
        #expect(books.values == [[]])
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        let date = await Outcome.of(try response(200, "1.5").map(Date.self, using: decoder))
        #expect(date.values == [Date(timeIntervalSince1970: 1.5)])
    }

    @Test("M181 A failed mapping reports its kind and keeps the response")
    func failures() async throws {
        let json = await Outcome.of(try response(200, "<html>").mapJSON().map { "\($0)" })
        let string = await Outcome.of(try response(200, #"{"a":1}"#).mapString(atKeyPath: "a"))
        let object = await Outcome.of(try response(200, "{}").map(Book.self))
        let empty = await Outcome.of(try response().map([Book].self))
        let keyPath = await Outcome.of(try response(200, "{}").map(Book.self, atKeyPath: "data"))
        #expect(json.failure?.code == .mapping(.json))
        #expect(string.failure?.code == .mapping(.string))
        #expect(object.failure?.code == .mapping(.object))
        #expect(empty.failure?.code == .mapping(.object))
        #expect(keyPath.failure?.code == .mapping(.keyPath))
        for failure in [json.failure, string.failure, object.failure, empty.failure, keyPath.failure] {
            #expect(failure?.response?.statusCode == 200)
        }
    }

    @Test("A failure of the call passes through unchanged")
    func upstream() async {
        let failed = Fail<PipelineResponse, PipelineError>(error: PipelineError(.offline, "by script"))
        let outcome = await Outcome.of(failed.filterSuccessfulStatusCodes().map(Book.self))
        #expect(outcome.failure?.code == .offline)
        #expect(outcome.failure?.reason == "by script")
    }
}
