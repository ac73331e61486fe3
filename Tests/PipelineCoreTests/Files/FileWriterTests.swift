import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("FileWriter", .tags(.concurrent), .watched)
struct FileWriterTests {
    @Test("A locked partial file is the one at its path, never one that another download has moved away")
    func lockedPart() async throws {
        let folder = try TemporaryFolder()
        let part = folder.file("part")
        let text = Data("whole".utf8)
        let wrong = await withTaskGroup(of: Int.self) { group in
            for number in 0..<4 {
                let destination = folder.file("\(number)")
                group.addTask {
                    var wrong = 0
                    let lane = FileLane()
                    for round in 0..<2_000 {
                        if round % 100 == 0 { await Task.yield() }
                        do {
                            try lane.runBlocking {
                                let file = try FileWriter.partial(part, lane)
                                try file.truncate(to: 0)
                                try file.append(text)
                                _ = try file.move(to: destination, replaces: true)
                            }
                        } catch let error as PipelineError where error.code == .file(.busy) {
                            continue
                        } catch {
                            wrong += 1
                        }
                    }
                    return wrong
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }

    @Test("A partial file is unlocked when its download ends, even if its descriptor was duplicated")
    func copied() async throws {
        let folder = try TemporaryFolder()
        let part = folder.file("part")
        let lane = FileLane()
        let copy: Int32
        do {
            let file = try FileWriter.partial(part, lane)
            copy = dup(file.descriptor)
        }
        defer { close(copy) }
        await lane.settle()
        #expect(throws: Never.self) { try FileWriter.partial(part, lane) }
    }
}
