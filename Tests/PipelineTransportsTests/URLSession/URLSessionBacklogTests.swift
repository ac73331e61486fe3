import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("URLSessionBacklog", .tags(.concurrent), .watched)
struct URLSessionBacklogTests {
    @Test("Bytes come out as they went in, however memory and file alternate")
    func order() async throws {
        var random = PipelineRandom.seeded(11)
        for limit in [0, 1, 7, 100] {
            var backlog = URLSessionBacklog(memoryLimit: limit, spills: true)
            var (sent, received) = (Data(), Data())
            for _ in 0..<300 {
                if Bool.random(using: &random) {
                    let piece = Data(
                        (0..<Int.random(in: 1...40, using: &random)).map { _ in
                            UInt8.random(in: 0...255, using: &random)
                        }
                    )
                    sent += piece
                    switch backlog.append(piece) {
                    case .memory: break
                    case .file(let overflow): overflow.add(piece) { Issue.record($0) }
                    case .refused: Issue.record("refused")
                    }
                } else if let piece = backlog.take() {
                    received += try await bytes(of: piece)
                } else {
                    #expect(backlog.isEmpty && received == sent)
                }
            }
            while let piece = backlog.take() { received += try await bytes(of: piece) }
            #expect(received == sent)
            #expect(backlog.isEmpty)
        }
    }

    private func bytes(of piece: URLSessionBacklog.Piece) async throws -> Data {
        switch piece {
        case .bytes(let data): data
        case .file(let overflow, let byteCount):
            try await overflow.read(byteCount)
        }
    }

    @Test("Without a file, bytes that do not fit are refused")
    func refused() throws {
        var backlog = URLSessionBacklog(memoryLimit: 10, spills: false)
        let places = [6, 5, 4].map { backlog.append(Data(count: $0)) }
        guard case .memory = places[0], case .refused = places[1], case .memory = places[2] else {
            Issue.record("\(places)")
            return
        }
        guard case .bytes(let data) = backlog.take() else {
            Issue.record("nothing is there")
            return
        }
        #expect(data.count == 10)
        #expect(backlog.isEmpty)
    }

    @Test(
        "A thread waits for the disk only while more bytes than the limit are pending and the file is open"
    )
    func room() async throws {
        let overflow = URLSessionOverflow(limit: 10)
        let gate = DispatchSemaphore(value: 0)
        overflow.lane.add { gate.waitForSignal() }
        overflow.add(Data(count: 10)) { Issue.record($0) }
        overflow.waitForRoom()
        overflow.add(Data(count: 1)) { Issue.record($0) }
        let hasWaited = Atomic(0)
        let thread = Thread {
            overflow.waitForRoom()
            hasWaited.store(1, ordering: .releasing)
        }
        thread.start()
        await eventually { overflow.isWaitedFor }
        #expect(hasWaited.load(ordering: .acquiring) == 0)
        overflow.close()
        await eventually { hasWaited.load(ordering: .acquiring) != 0 }
        overflow.waitForRoom()
        gate.signal()
        try await overflow.lane.run {}
    }
}
