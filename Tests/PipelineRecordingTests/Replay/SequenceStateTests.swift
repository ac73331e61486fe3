import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@Suite("Replay sequences", .tags(.concurrent), .watched)
struct SequenceStateTests {
    private let bench: RecordingBench

    init() throws { bench = try RecordingBench() }

    @Test("F05 entries are used in order, and unused entries are listed")
    func unused() async throws {
        try bench.write(entries: [
            ("GET", "https://api.example/a", "1"), ("GET", "https://api.example/a", "2"),
            ("GET", "https://api.example/b", "3"),
        ])
        let replay = try ReplayTransport(bench.file)
        let provider = bench.provider(replay)
        #expect(try await provider.request(bench.target("/a")).data == Data("1".utf8))
        #expect(replay.recording.unused.map(\.index) == [1, 2])
        let error = #expect(throws: PipelineError.self) { try replay.recording.assertAllUsed() }
        #expect(error?.code == .recording(.unused))
        #expect(
            error?.reason.contains("entry 1: GET https://api.example/a; entry 2: GET https://api.example/b") == true
        )
        #expect(try await provider.request(bench.target("/b")).data == Data("3".utf8))
        #expect(try await provider.request(bench.target("/a")).data == Data("2".utf8))
        try replay.recording.assertAllUsed()
        #expect(replay.recording.description == "api.har: 3 entries, 0 unused")
    }

    @Test(
        "at the end of a sequence a request fails, repeats the last response or starts over",
        arguments: [
            (ReplayEnd.fail, ["1", "2", "recording.usedUp", "recording.usedUp"]),
            (.repeatLast, ["1", "2", "2", "2"]),
            (.cycle, ["1", "2", "1", "2"]),
        ]
    )
    func sequenceEnd(end: ReplayEnd, expected: [String]) async throws {
        try bench.write(entries: [("GET", "https://api.example/a", "1"), ("GET", "https://api.example/a", "2")])
        let provider = bench.provider(try ReplayTransport(bench.file, atEnd: end))
        var answers: [String] = []
        for _ in expected {
            do {
                answers.append(String(decoding: try await provider.request(bench.target("/a")).data, as: UTF8.self))
            } catch let error as PipelineError {
                answers.append(error.code.rawValue)
            }
        }
        #expect(answers == expected)
    }

    @Test("1,000 concurrent calls with 10 keys use 1,000 different entries")
    func thousandCalls() async throws {
        try bench.write(entries: (0..<1_000).map { ("GET", "https://api.example/\($0 % 10)", "\($0)") })
        let replay = try ReplayTransport(bench.file)
        let provider = bench.provider(replay)
        let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for number in 0..<1_000 {
                group.addTask { [bench] in
                    let response = try await provider.request(bench.target("/\(number % 10)"))
                    return (number % 10, String(decoding: response.data, as: UTF8.self))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(answers.map(\.1)).count == 1_000)
        #expect(answers.allSatisfy { Int($0.1).map { $0 % 10 } == $0.0 })
        try replay.recording.assertAllUsed()
    }
}
