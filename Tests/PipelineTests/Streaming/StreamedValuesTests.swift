import Dispatch
import Foundation
import HTTPTypes
import PipelineTesting
import TestSupport
import Testing

@testable import Pipeline

@Suite("Values of a streamed answer", .timeLimit(.minutes(10)), .tags(.concurrent))
struct StreamedValuesTests {
    private func answer(_ body: PipelineBody, type: String? = nil) async throws -> StreamedResponse {
        let headers: HTTPFields = type.map { [.contentType: $0] } ?? [:]
        let transport = ScriptedTransport(always: .status(200, headers: headers, body: body))
        return try await Provider<TestTarget>(transport: transport).stream(TestTarget())
    }

    @Test("Lines come as text, with what is no UTF-8 replaced")
    func lines() async throws {
        let bytes = Data("\u{feff}a\r\nb\rc\n\nd".utf8) + [0xff]
        var lines: [String] = []
        for try await line in try await answer(.bytes(bytes)).lines() { lines.append(line) }
        #expect(lines == ["a", "b", "c", "", "d\u{fffd}"])
    }

    @Test("Nothing is read before the first value is asked for, and the next piece when those before it are used up")
    func laziness() async throws {
        let feed = WatchedFeed(["1\n2\n3", "\n4\n", "5\n"])
        let values = try await answer(.stream(feed)).jsonLines(as: Int.self)
        #expect(feed.readCount == 0)
        var iterator = values.makeAsyncIterator()
        #expect(feed.readCount == 0)
        for (value, count) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)] {
            #expect(try await iterator.next() == value)
            #expect(feed.readCount == count)
        }
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
    }

    @Test("Of a large piece no more values are decoded ahead than 128")
    func batches() async throws {
        let decoded = Journal()
        struct Noted: Decodable, Sendable {
            @TaskLocal static var journal: Journal?
            init(from decoder: any Decoder) throws { Self.journal?.add("") }
        }
        try await Noted.$journal.withValue(decoded) {
            let body = PipelineBody.bytes(Data(String(repeating: "1\n", count: 1_000).utf8))
            var iterator = try await answer(body).jsonLines(as: Noted.self).makeAsyncIterator()
            for _ in 0..<129 { _ = try await iterator.next() }
        }
        #expect(decoded.entries.count == 256)
    }

    @Test("Values are decoded away from the reader's actor")
    func actor() async throws {
        struct Place: Decodable, Sendable {
            let isReaders: Bool
            init(from decoder: any Decoder) throws {
                isReaders = DispatchQueue.getSpecific(key: QueueReader.key) != nil
            }
        }
        let values = try await answer(.bytes(Data("1\n2\n".utf8))).jsonLines(as: Place.self)
        #expect(try await QueueReader().read(values).map(\.isReaders) == [false, false])
    }

    @Test("A reader who leaves the loop closes the exchange, and so does an error")
    func closing() async throws {
        let left = WatchedFeed(["1\n", "2\n"])
        for try await _ in try await answer(.stream(left)).jsonLines(as: Int.self) { break }
        #expect(left.isDropped)
        #expect(left.readCount == 1)

        let failed = WatchedFeed(["1\nx\n", "2\n"])
        var iterator = try await answer(.stream(failed)).jsonLines(as: Int.self).makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        let error = await pipelineError { _ = try await iterator.next() }
        #expect(error?.code == .mapping(.object))
        #expect(failed.isDropped)
        #expect(failed.readCount == 1)
        #expect(try await iterator.next() == nil)
    }

    @Test("A failure of the body is thrown after the values that came before it")
    func failure() async throws {
        let feed = WatchedFeed(["1\n2\n3"], failure: PipelineError(.connectionLost, "by script"))
        var values: [Int] = []
        let error = await pipelineError {
            for try await value in try await answer(.stream(feed)).jsonLines(as: Int.self) { values.append(value) }
        }
        #expect(values == [1, 2])
        #expect(error?.code == .connectionLost)
    }

    @Test("I8: A body that is shorter than announced is truncated: its last line is no value")
    func truncated() async throws {
        var values: [Int] = []
        let error = await pipelineError {
            let body = PipelineBody.stream(WatchedFeed(["1\n2"]), byteCount: 4)
            for try await value in try await answer(body).jsonLines(as: Int.self) { values.append(value) }
        }
        #expect(values == [1])
        #expect(error?.code == .truncated)
    }

    @Test("Values can be read once, and then the body is consumed")
    func twice() async throws {
        let values = try await answer(.stream(WatchedFeed(["1\n"]))).jsonLines(as: Int.self)
        for try await _ in values {}
        let error = await pipelineError { for try await _ in values {} }
        #expect(error?.code == .bodyConsumed)
    }

    @Test("A cancelled reader gets CancellationError, also of a body that just ends then")
    func cancellation() async throws {
        for isSilent in [false, true] {
            let (stream, continuation) = AsyncStream<Data>.makeStream()
            continuation.yield(Data("1\n2".utf8))
            let body: PipelineBody = isSilent ? .stream(stream) : .stream(WatchedFeed(["1\n2"], hangs: true))
            let values = try await answer(body).jsonLines(as: Int.self)
            let (first, hasFirst) = AsyncStream<Int>.makeStream()
            let reading = Task {
                for try await value in values { hasFirst.yield(value) }
            }
            for await value in first {
                #expect(value == 1)
                break
            }
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
        }
    }

    @Test(
        "Events are read of an answer that says so, with whatever parameters",
        arguments: ["text/event-stream", "Text/Event-Stream; charset=utf-8", "text/event-stream;charset=latin1"]
    )
    func events(_ type: String) async throws {
        var data: [String] = []
        let body = PipelineBody.bytes(Data("data: é\n\ndata: 2\n\ndata: 3".utf8))
        for try await event in try await answer(body, type: type).serverSentEvents() { data.append(event.data) }
        #expect(data == ["é", "2"])
    }

    @Test(
        "Of any other answer it is mapping.events, with the response and without its body",
        arguments: [nil, "text/plain", ""]
    )
    func otherType(_ type: String?) async throws {
        let feed = WatchedFeed(["data: 1\n\n"])
        let error = await pipelineError {
            for try await _ in try await answer(.stream(feed), type: type).serverSentEvents() {}
        }
        #expect(error?.code == .mapping(.events))
        #expect(error?.response?.statusCode == 200)
        #expect(error?.response?.body.isNone == true)
        #expect(feed.readCount == 0)
    }
}

/// Reads on a queue that can be told from others.
private actor QueueReader {
    static let key = DispatchSpecificKey<Bool>()

    private final class Executor: SerialExecutor {
        private let queue = DispatchQueue(label: "reader")

        init() { queue.setSpecific(key: QueueReader.key, value: true) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    private let executor = Executor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func read<Value>(_ values: StreamedValues<Value>) async throws -> [Value] {
        #expect(DispatchQueue.getSpecific(key: Self.key) == true)
        var read: [Value] = []
        for try await value in values {
            #expect(DispatchQueue.getSpecific(key: Self.key) == true)
            read.append(value)
        }
        return read
    }
}
