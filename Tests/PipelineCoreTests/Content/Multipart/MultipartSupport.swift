import Foundation
import Pipeline
import Testing

@testable import PipelineCore

extension MultipartFormBodyPart {
    static func field(_ name: String, _ text: String = "") -> MultipartFormBodyPart {
        MultipartFormBodyPart(.bytes(Data(text.utf8)), name: name)
    }
}

extension MultipartFormData {
    func makeBody() throws -> (body: PipelineBody, contentType: String) {
        var generator = ScriptedGenerator(1, 2)
        return try makeBody(using: &generator)
    }

    /// The whole body as text.
    func wire() async throws -> String {
        try await makeBody().body.text()
    }
}

extension PipelineBody {
    func text() async throws -> String {
        let data = try await collect(upTo: 1 << 30)
        return try #require(String(data: data, encoding: .utf8))
    }

    /// Reads the body and returns the number of bytes before the end or the error, and the error.
    func drain(
        _ afterEachChunk: (Int) throws -> Void = { _ in }
    ) async throws -> (byteCount: Int, error: PipelineError?) {
        var byteCount = 0
        var index = 0
        var iterator = chunks().makeAsyncIterator()
        do {
            while let chunk = try await iterator.next() {
                byteCount += chunk.count
                try afterEachChunk(index)
                index += 1
            }
            return (byteCount, nil)
        } catch let error as PipelineError {
            let more = try await iterator.next()
            #expect(more == nil, "nothing comes after an error")
            return (byteCount, error)
        }
    }
}
