import Foundation
import Pipeline
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

@Suite("HAR files that cannot be written", .watched)
struct HARWriterTests {
    @Test("F01 Without disk space, writing fails with recording.notWritten and leaves only the old file")
    func noSpace() async throws {
        let bench = try HARBench()
        let url = try bench.write(entries: HARFileFaultTests.entries)
        let old = try Data(contentsOf: url)
        await #expect(processExitsWith: .success) { [path = url.path as String] in
            signal(SIGXFSZ, SIG_IGN)
            var size = rlimit(rlim_cur: 64 << 10, rlim_max: 64 << 10)
            #if canImport(Glibc)
            let isSet = setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &size) == 0
            #else
            let isSet = setrlimit(RLIMIT_FSIZE, &size) == 0
            #endif
            let url = URL(filePath: path)
            let large = HAREntry(json: .string(String(repeating: "a", count: 70_000)))
            var file = try HARFile(contentsOf: url)
            file.append(large)
            let written = failure { try file.write(to: url) }
            let journal = try HARJournal(for: url)
            try journal.append(HAREntry(json: .integer(1)))
            let noted = failure { try journal.append(large) }
            try journal.append(HAREntry(json: .integer(2)))
            let kept = try journal.entries().map(\.json)
            try journal.discard()
            let entry = try HAREntry(
                response: #"{"status":200,"content":{"text":"\#(String(repeating: "a", count: 70_000))"}}"#
            )
            let moved = failure { _ = try HARSideFiles(for: url, threshold: 10).moveBodies(of: entry) }
            guard isSet, written?.code == .recording(.notWritten), noted?.code == .recording(.notWritten),
                moved?.code == .recording(.notWritten), kept == [.integer(1), .integer(2)]
            else { exit(1) }
        }
        #expect(try Data(contentsOf: url) == old)
        #expect(bench.names == ["test-files", "test.har"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.url("test-files").path).isEmpty)
    }

    @Test("In a missing folder, a file fails with recording.notWritten; a journal creates the folder if possible")
    func noFolder() throws {
        let bench = try HARBench()
        let written = failure { try HARFile().write(to: bench.url("a/b.har")) }
        #expect(written?.code == .recording(.notWritten))
        #expect(
            written?.reason.hasSuffix(
                "could not be written in the folder \"\(bench.url("a").path)\": No such file or directory"
            ) == true
        )
        let journal = try HARJournal(for: bench.url("a/b/c.har"))
        #expect(bench.names == ["a"])
        withExtendedLifetime(journal) {}
        let long = String(repeating: "x", count: 300)
        let error = failure { _ = try HARJournal(for: bench.url("new/\(long)/b.har")) }
        #expect(error?.code == .recording(.notWritten))
        #expect(error?.reason.hasPrefix("the file \"b.har\" could not be written because its folder") == true)
        #expect(error?.reason.contains("could not be created: File name too long") == true)
        let url = try bench.write("")
        let inFile = failure { _ = try HARJournal(for: url.appending(path: "b.har")) }
        #expect(inFile?.reason.hasPrefix("the file \"b.har\" could not be written in the folder") == true)
        #expect(inFile?.reason.hasSuffix(": Not a directory") == true)
    }
}
