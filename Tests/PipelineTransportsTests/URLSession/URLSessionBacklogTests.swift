import Foundation
import PipelineTesting
import Testing

@testable import Pipeline
@testable import PipelineTransports

@Suite("URLSessionBacklog")
struct URLSessionBacklogTests {
    @Test("Bytes come out as they went in, however memory and file take turns")
    func order() throws {
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
                    let hasRoom = try backlog.append(piece)
                    #expect(hasRoom)
                } else if let piece = try backlog.take() {
                    received += piece
                } else {
                    #expect(backlog.isEmpty && received == sent)
                }
            }
            while let piece = try backlog.take() { received += piece }
            #expect(received == sent)
            #expect(backlog.isEmpty)
        }
    }

    @Test("Without a file, what has no room is refused")
    func refused() throws {
        var backlog = URLSessionBacklog(memoryLimit: 10, spills: false)
        let rooms = [
            try backlog.append(Data(count: 6)), try backlog.append(Data(count: 5)), try backlog.append(Data(count: 4)),
        ]
        #expect(rooms == [true, false, true])
        let taken = [try backlog.take()?.count, try backlog.take()?.count]
        #expect(taken == [10, nil])
    }
}

@Suite("URLSessionSpool")
struct URLSessionSpoolTests {
    @Test("I8 A body whose reader is cancelled is not taken for whole")
    func cancelled() async {
        let never = AsyncStream<Data> { _ in }
        let reader = Task {
            switch try await URLSessionSpool.read(.stream(never), limit: 100) {
            case .bytes(let bytes): bytes.count
            case .file: -1
            }
        }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
    }
}
