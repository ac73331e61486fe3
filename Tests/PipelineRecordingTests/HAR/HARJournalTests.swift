import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import PipelineRecording

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Journals of recorders", .tags(.concurrent), .watched)
struct HARJournalTests {
    private func entry(_ number: Int) -> HAREntry {
        HAREntry(json: .object(["n": .integer(number), "text": .string("a\nü\u{2028}")]))
    }

    private func numbers(_ entries: [HAREntry]) -> [Int] { entries.compactMap { $0.json["n"]?.int } }

    @Test("Entries are read back in order from a file beside the recording, one per line, with mode 0600")
    func order() throws {
        let bench = try HARBench()
        let journal = try HARJournal(for: bench.url())
        #expect(try journal.entries().isEmpty)
        for number in 0..<5 { try journal.append(entry(number)) }
        #expect(try journal.entries() == (0..<5).map(entry))
        #expect(bench.names == ["test.har.journal"])
        let lines = try String(contentsOf: journal.url, encoding: .utf8).utf8.split(separator: 0x0a)
        #expect(lines.count == 5)
        let mode = try FileManager.default.attributesOfItem(atPath: journal.url.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("The next recorder finds the entries left by the last one and appends to them")
    func next() throws {
        let bench = try HARBench()
        do { try HARJournal(for: bench.url()).append(entry(1)) }
        let journal = try HARJournal(for: bench.url())
        try journal.append(entry(2))
        #expect(numbers(try journal.entries()) == [1, 2])
    }

    @Test("F03 A second recorder fails with recording.busy until the first is gone")
    func busy() throws {
        let bench = try HARBench()
        var first: HARJournal? = try HARJournal(for: bench.url())
        try first?.append(entry(1))
        let error = failure { _ = try HARJournal(for: bench.url()) }
        #expect(error?.code == .recording(.busy))
        #expect(error?.reason.contains("test.har.journal") == true)
        first = nil
        #expect(numbers(try HARJournal(for: bench.url()).entries()) == [1])
    }

    @Test("F03 Entries from 50 threads are neither mixed nor lost")
    func concurrent() throws {
        let bench = try HARBench()
        let journal = try HARJournal(for: bench.url())
        let failures = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 50) { thread in
            for number in 0..<20 {
                do {
                    try journal.lane.runBlocking { try journal.append(entry(thread * 20 + number)) }
                } catch { failures.withLock { $0 += 1 } }
            }
        }
        #expect(failures.withLock { $0 } == 0)
        #expect(numbers(try journal.entries()).sorted() == Array(0..<1000))
    }

    @Test("Discarding removes the journal; the next entry starts a new one unless another recorder has it")
    func discard() throws {
        let bench = try HARBench()
        let journal = try HARJournal(for: bench.url())
        try journal.append(entry(1))
        try journal.discard()
        try journal.discard()
        #expect(bench.names.isEmpty)
        #expect(try journal.entries().isEmpty)
        try journal.append(entry(2))
        #expect(numbers(try journal.entries()) == [2])
        try journal.discard()
        let other = try HARJournal(for: bench.url())
        #expect(failure { try journal.append(entry(3)) }?.code == .recording(.busy))
        try other.append(entry(4))
        #expect(numbers(try other.entries()) == [4])
    }

    #if os(Linux)
    @Test("A journal is free once its recorder is gone, even while a child process holds its descriptor")
    func copied() throws {
        let bench = try HARBench()
        let copy: Int32
        do {
            let journal = try HARJournal(for: bench.url())
            try journal.append(entry(1))
            let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                Int32($0)
            }
            let mine = descriptors.first { number in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
                return target == journal.url.path
            }
            copy = dup(try #require(mine))
        }
        defer { close(copy) }
        #expect(numbers(try HARJournal(for: bench.url()).entries()) == [1])
    }
    #endif

    @Test("An empty journal is removed with its recorder")
    func empty() throws {
        let bench = try HARBench()
        do { _ = try HARJournal(for: bench.url()).entries() }
        #expect(bench.names.isEmpty)
    }

    @Test("F02 A journal cut at any byte keeps its complete lines and can be appended to")
    func truncation() throws {
        let bench = try HARBench()
        let url = try {
            let journal = try HARJournal(for: bench.url())
            for number in 0..<3 { try journal.append(entry(number)) }
            return journal.url
        }()
        let data = try Data(contentsOf: url)
        for length in 0...data.count {
            try data.prefix(length).write(to: url)
            let journal = try HARJournal(for: bench.url())
            let whole = data.prefix(length).count { $0 == 0x0a }
            #expect(numbers(try journal.entries()) == Array(0..<whole), "cut at \(length)")
            try journal.append(entry(7))
            #expect(numbers(try journal.entries()) == Array(0..<whole) + [7], "cut at \(length)")
        }
    }

    @Test("F02 A line with a flipped byte is corrupt at its offset; a last line without its end is dropped")
    func flips() throws {
        let bench = try HARBench()
        let url = try {
            let journal = try HARJournal(for: bench.url())
            for number in 0..<2 { try journal.append(entry(number)) }
            return journal.url
        }()
        var data = try Data(contentsOf: url)
        let last = try #require(data.firstIndex(of: 0x0a)) + 1
        for place in data.indices {
            data[place] ^= 0x04
            try data.write(to: url)
            data[place] ^= 0x04
            var kept: [Int]?
            let error = failure { kept = numbers(try HARJournal(for: bench.url()).entries()) }
            if place == data.count - 1 {
                #expect(kept == [0])
            } else {
                #expect(error?.code == .recording(.corrupt), "flip at \(place)")
                #expect((error?.underlyingError as? HARFailure)?.offset == (place < last ? 0 : last))
            }
        }
    }

    @Test("F02 A recorder killed at any time leaves a valid file and a journal with all other entries")
    func killed() async throws {
        var random = PipelineRandom.seeded(2)
        for round in 0..<8 {
            let bench = try HARBench()
            let goal = Int.random(in: 1...60, using: &random)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = bench.url().path as String, goal = goal as Int] in
                let url = URL(filePath: path)
                let journal = try HARJournal(for: url)
                var file = HARFile()
                let count = Atomic(0)
                Thread.detachNewThread {
                    while count.load(ordering: .relaxed) < goal {}
                    _ = kill(getpid(), SIGKILL)
                }
                while true {
                    let number = count.load(ordering: .relaxed)
                    let entry = HAREntry(
                        json: .object(["n": .integer(number), "x": .string(String(repeating: "x", count: 9000))])
                    )
                    try journal.append(entry)
                    file.append(entry)
                    if number % 7 == 6 {
                        try file.write(to: url)
                        try journal.discard()
                    }
                    count.add(1, ordering: .relaxed)
                }
            }
            var found: Set<Int> = []
            if FileManager.default.fileExists(atPath: bench.url().path) {
                let file = try HARFile(contentsOf: bench.url())
                for index in 0..<file.count { found.formUnion(numbers([try file.entry(at: index)])) }
            }
            found.formUnion(numbers(try HARJournal(for: bench.url()).entries()))
            #expect(found == Set(0..<found.count), "round \(round)")
            #expect(found.count >= goal, "round \(round)")
        }
    }
}
