#if os(Linux)
import Foundation
@testable import PipelineCore
import PipelineTesting
import Synchronization
import TestSupport
import Testing

import Pipeline

@Suite("Calls with a stalled disk", .tags(.concurrent), .watched)
struct StalledFileTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Reads the request body and returns it as the response body.
    private struct Echo: Transport {
        let decodesContent = true

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            let data = try await request.body.collect(upTo: 1 << 20)
            return PipelineResponse(request: request, head: HTTPResponse(status: .ok), body: .bytes(data))
        }
    }

    enum Upload: CaseIterable {
        case file, form, stream

        func task(_ url: URL) -> RequestTask {
            switch self {
            case .file: .uploadFile(url)
            case .form: .uploadMultipart([MultipartFormBodyPart(.file(url), name: "f")])
            case .stream: .requestStream(.file(url))
            }
        }
    }

    private static let provider = Provider<TestTarget>(transport: Echo())

    @Test("Eight uploads from a stalled disk block no other call", arguments: Upload.allCases)
    func uploads(_ upload: Upload) async throws {
        let files = try (0..<8).map { try folder.file("\($0)", Data("content \($0)".utf8)) }
        let leases = try files.map { try LeasedFile($0) }
        try await withThrowingTaskGroup(of: String.self) { group in
            for file in files {
                group.addTask {
                    let target = TestTarget(method: .post, task: upload.task(file))
                    return String(decoding: try await Self.provider.request(target).data, as: UTF8.self)
                }
            }
            await eventually { leases.allSatisfy(\.isWaitedFor) }
            let other = try await Self.provider.request(TestTarget(method: .post, task: .requestData(Data("x".utf8))))
            #expect(other.data == Data("x".utf8))
            for lease in leases { lease.release() }
            let texts = try await group.reduce(into: []) { $0.append($1) }
            #expect((0..<8).allSatisfy { number in texts.contains { $0.contains("content \(number)") } })
        }
    }

    @Test(
        "A cancelled upload ends immediately, and its file is closed when the disk has recovered",
        arguments: Upload.allCases
    )
    func cancelledUpload(_ upload: Upload) async throws {
        let file = try folder.file("f", Data("content".utf8))
        let lease = try LeasedFile(file)
        let call = Task {
            try await Self.provider.request(TestTarget(method: .post, task: upload.task(file)))
        }
        await eventually { lease.isWaitedFor }
        call.cancel()
        await #expect(throws: CancellationError.self) { _ = try await call.value }
        lease.release()
        await eventually { openCount(of: file) == 1 }
    }

    // MARK: Downloads

    @Test(
        "Eight resumed downloads with records on a stalled disk block no other call and can be cancelled at once"
    )
    func resumed() async throws {
        let stall = Stall()
        let journal = Journal()
        let provider = Provider<TestTarget>(
            transport: Echo(),
            plugins: [StallingPlugin(stall: stall, journal: journal)]
        )
        let calls = (0..<8).map { number in
            let part = folder.file("\(number).part")
            let destination = DownloadDestination.file(folder.file("\(number)")).resumable(at: part)
            return Task { try await provider.request(TestTarget(task: .downloadDestination(destination))) }
        }
        await eventually { stall.count == 8 }
        let other = try await Self.provider.request(TestTarget(method: .post, task: .requestData(Data("x".utf8))))
        #expect(other.data == Data("x".utf8))
        for call in calls { call.cancel() }
        for call in calls { await #expect(throws: CancellationError.self) { _ = try await call.value } }
        #expect(journal.entries.isEmpty)
        stall.end()
    }

    /// Stalls file access before the record of a download is read, and records requests that are sent anyway.
    private struct StallingPlugin: Stage.Prepare, Stage.WillSend {
        let stall: Stall
        let journal: Journal

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) { stall.begin(in: context) }

        func willSend(_ request: PipelineRequest, context: PipelineContext) { journal.add("\(request.method) is sent") }
    }

    enum Step: CaseIterable {
        case making, writing, moving
    }

    /// Blocks the file access of a call, as a stalled disk does.
    private final class Stall: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private let begunCount = Atomic(0)
        var count: Int { begunCount.load(ordering: .acquiring) }

        func begin(in context: PipelineContext) {
            context.call.download?.lane.add { [self] in
                begunCount.add(1, ordering: .releasing)
                gate.waitForSignal()
            }
        }

        func end() { for _ in 0..<count { gate.signal() } }
    }

    /// Responds with three pieces and stalls file access before one of the steps.
    private struct StallingTransport: Transport {
        let stall: Stall
        let step: Step
        let decodesContent = true

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            if step == .making { stall.begin(in: context) }
            let (step, stall) = (step, stall)
            let number = Mutex(0)
            let pieces = AsyncStream<Data> {
                let number = number.withLock { number in
                    number += 1
                    return number
                }
                if number == (step == .writing ? 2 : 4), step != .making { stall.begin(in: context) }
                return number < 4 ? Data("abc".utf8) : nil
            }
            return PipelineResponse(request: request, head: HTTPResponse(status: .ok), body: .stream(pieces))
        }
    }

    @Test("Downloads to a stalled disk block no other call", arguments: Step.allCases)
    func downloads(_ step: Step) async throws {
        let stall = Stall()
        let provider = Provider<TestTarget>(transport: StallingTransport(stall: stall, step: step))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                let destination = DownloadDestination.file(folder.file("\(number)"))
                group.addTask { _ = try await provider.request(TestTarget(task: .downloadDestination(destination))) }
            }
            await eventually { stall.count == 8 }
            let other = try await Self.provider.request(TestTarget(method: .post, task: .requestData(Data("x".utf8))))
            #expect(other.data == Data("x".utf8))
            stall.end()
            try await group.waitForAll()
        }
        #expect((0..<8).allSatisfy { folder.text(of: "\($0)") == "abcabcabc" })
        #expect(folder.names.count == 8)
    }

    @Test(
        "A download cancelled on a stalled disk ends immediately and leaves nothing when the disk has recovered",
        arguments: Step.allCases
    )
    func cancelledDownload(_ step: Step) async throws {
        let stall = Stall()
        let provider = Provider<TestTarget>(transport: StallingTransport(stall: stall, step: step))
        let destination = DownloadDestination.file(folder.file("a"))
        let call = Task { try await provider.request(TestTarget(task: .downloadDestination(destination))) }
        await eventually { stall.count == 1 }
        call.cancel()
        await #expect(throws: CancellationError.self) { _ = try await call.value }
        stall.end()
        await eventually { folder.names.isEmpty }
        let path = folder.url.resolvingSymlinksInPath().path
        await eventually {
            let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            return !all.contains { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                return target?.hasPrefix(path) == true
            }
        }
    }

    @Test(
        "Plugins see the length that a file had when first measured, and each exchange measures it again"
    )
    func measured() async throws {
        let file = try folder.file("f", Data("abc".utf8))
        let journal = Journal()
        let plugin = ClosurePlugin(file: file, journal: journal)
        let provider = Provider<TestTarget>(transport: Echo(), plugins: [plugin])
        let response = try await provider.request(TestTarget(method: .post, task: .uploadFile(file)))
        #expect(response.data == Data("abcdef".utf8))
        #expect(journal.entries == ["prepare 3", "prepare 3", "willSend 6"])
    }

    private struct ClosurePlugin: Stage.Prepare, Stage.WillSend {
        let file: URL
        let journal: Journal

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
            journal.add("prepare \(request.body.byteCount ?? -1)")
            try Data("abcdef".utf8).write(to: file)
            journal.add("prepare \(request.body.byteCount ?? -1)")
        }

        func willSend(_ request: PipelineRequest, context: PipelineContext) {
            journal.add("willSend \(request.body.byteCount ?? -1)")
        }
    }
}
#endif
