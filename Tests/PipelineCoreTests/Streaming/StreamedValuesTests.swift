import Dispatch
import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Values of a streamed response", .tags(.concurrent), .watched)
struct StreamedValuesTests {
    private func answer(_ body: PipelineBody, type: String? = nil) async throws -> StreamedResponse {
        let headers: HTTPFields = type.map { [.contentType: $0] } ?? [:]
        let transport = ScriptedTransport(always: .status(200, headers: headers, body: body))
        return try await Provider<TestTarget>(transport: transport).stream(TestTarget())
    }

    @Test("Values are decoded off the reader's actor")
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

    @Test("Leaving the loop closes the exchange, and so does an error")
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

    @Test("A failure of the body is thrown after the values that arrived before it")
    func failure() async throws {
        let feed = WatchedFeed(["1\n2\n3"], failure: PipelineError(.connectionLost, "by script"))
        var values: [Int] = []
        let error = await pipelineError {
            for try await value in try await answer(.stream(feed)).jsonLines(as: Int.self) { values.append(value) }
        }
        #expect(values == [1, 2])
        #expect(error?.code == .connectionLost)
    }

    @Test("I8: A body shorter than its announced length fails as truncated; its last line is not a value")
    func truncated() async throws {
        var values: [Int] = []
        let error = await pipelineError {
            let body = PipelineBody.stream(WatchedFeed(["1\n2"]), byteCount: 4)
            for try await value in try await answer(body).jsonLines(as: Int.self) { values.append(value) }
        }
        #expect(values == [1])
        #expect(error?.code == .truncated)
    }

    @Test("Values can be read once; a second loop fails with bodyConsumed")
    func twice() async throws {
        let values = try await answer(.stream(WatchedFeed(["1\n"]))).jsonLines(as: Int.self)
        for try await _ in values {}
        let error = await pipelineError { for try await _ in values {} }
        #expect(error?.code == .bodyConsumed)
    }

    @Test("A cancelled reader gets CancellationError, even if the body ends at that moment")
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
}

/// Reads on a queue that can be recognized.
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

    func read<Value>(_ values: StreamedResponse.Values<Value>) async throws -> [Value] {
        #expect(DispatchQueue.getSpecific(key: Self.key) == true)
        var read: [Value] = []
        for try await value in values {
            #expect(DispatchQueue.getSpecific(key: Self.key) == true)
            read.append(value)
        }
        return read
    }
}
