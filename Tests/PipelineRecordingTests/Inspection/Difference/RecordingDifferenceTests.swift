import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Differences between two recordings", .watched)
struct RecordingDifferenceTests {
    @Test("Recordings that differ only in their times are equal")
    func equal() {
        let first = Sample.entries(Sample.exchange(), Sample.exchange(after: 1))
        let second = Sample.entries(
            Sample.exchange(after: 50) { $0.duration = .seconds(9) },
            Sample.exchange(after: 60)
        )
        #expect(RecordingDifference(first, second).lines == [])
    }

    @Test("An entry in only one recording is reported as added or removed")
    func addedAndRemoved() {
        let first = Sample.entries(Sample.exchange("GET", "https://h.example/1"), Sample.exchange())
        let second = Sample.entries(Sample.exchange(), Sample.exchange("PUT"), Sample.exchange())
        #expect(
            RecordingDifference(first, second).lines == [
                "- entry 0 GET https://h.example/1",
                "+ entry 1 PUT https://h.example/a",
                "+ entry 2 GET https://h.example/a",
            ]
        )
    }

    @Test("Entries for the same request are paired in order")
    func sequences() {
        let first = Sample.entries(Sample.exchange(status: 429), Sample.exchange(status: 200))
        let second = Sample.entries(Sample.exchange(status: 429), Sample.exchange(status: 500))
        #expect(
            RecordingDifference(first, second).lines == [
                "~ entry 1 and 1 GET https://h.example/a", "    status: 200 → 500",
            ]
        )
    }

    @Test("Secrets are compared but not shown")
    func secrets() {
        let exchange = { (secret: String) in
            Sample.exchange(body: #"{"token":"\#(secret)","a":"\#(secret)"}"#) {
                $0.request.headers[.authorization] = "Bearer " + secret
                $0.response?.headers[.server] = secret
            }
        }
        let difference = RecordingDifference(
            Sample.entries(exchange("first-secret")),
            Sample.entries(exchange("other-secret")),
            redactor: Redactor(secretValues: ["first-secret", "other-secret"])
        )
        let text = difference.lines.joined(separator: "\n")
        #expect(text.contains("request field authorization: … → …"))
        #expect(text.contains("response field server: … → …"))
        #expect(text.contains("response body $.token: … → … (the difference is in what is hidden)"))
        #expect(text.contains("response body $.a: "))
        #expect(!text.contains("-secret"))
    }

    @Test("Unreadable entries are paired with each other")
    func unreadable() {
        let first = Sample.entries(Sample.exchange()) + [Sample.unreadable(1)]
        #expect(RecordingDifference(first, first).lines == [])
        #expect(
            RecordingDifference(first, Sample.entries(Sample.exchange())).lines == ["- entry 1 that cannot be read"]
        )
    }
}
