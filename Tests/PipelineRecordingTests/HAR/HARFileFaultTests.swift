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

@Suite("Damaged and large HAR files", .watched)
struct HARFileFaultTests {
    static let entries = [
        #"{"startedDateTime":"2026-11-21T02:12:26.119Z","time":1.5,"request":{"method":"POST","url":"http://h/?a=b","#
            + #""headers":[{"name":"A","value":"\u00e9\n"}],"postData":{"mimeType":"","text":"x"}},"#
            + #""response":{"status":200,"content":{"text":"AP8=","encoding":"base64"},"_chunks":[{"size":2,"time":0}]}}"#,
        #"{"request":{"method":"GET","url":"ü"},"response":{"status":0,"_error":"x"}}"#,
    ]

    static let whole =
        #"{"log":{"version":"1.2","entries":["# + entries.joined(separator: ",\n") + "],\"x\":[null]}}\n"

    /// The number of entries that can be read.
    ///
    /// - Throws: Any error other than a typed one that locates the fault within the file.
    private func readableCount(_ data: Data, _ url: URL) throws -> Int? {
        func check(_ error: any Error) throws {
            guard let error = error as? PipelineError, error.code == .recording(.corrupt),
                let place = error.underlyingError as? HARFailure, (0...data.count).contains(place.offset)
            else { throw error }
        }
        try data.write(to: url)
        do {
            let file = try HARFile(contentsOf: url)
            var count = 0
            for index in 0..<file.count {
                do {
                    _ = try file.exchange(at: index)
                    count += 1
                } catch { try check(error) }
            }
            return count
        } catch {
            try check(error)
            return nil
        }
    }

    @Test("F04 A file cut at any byte is corrupt at an offset, unless only trailing whitespace is missing")
    func truncation() throws {
        let bench = try HARBench()
        let data = Data(Self.whole.utf8)
        for length in 0..<data.count {
            let count = try readableCount(data.prefix(length), bench.url())
            #expect(count == (length == data.count - 1 ? 2 : nil), "cut at \(length)")
        }
        #expect(try readableCount(data, bench.url()) == 2)
    }

    @Test("F04 A file with any byte flipped is read or rejected", arguments: [0x01, 0x02, 0x20, 0x80, 0xff] as [UInt8])
    func flips(mask: UInt8) throws {
        let bench = try HARBench()
        var data = Data(Self.whole.utf8)
        var refused = 0
        for place in data.indices {
            data[place] ^= mask
            if try readableCount(data, bench.url()) != 2 { refused += 1 }
            data[place] ^= mask
        }
        #expect(refused > 50)
    }

    // Runs in a separate process, because memory, time and the limit on file sizes are per process.

    @Test("F04 A file of 100 MB is loaded, read in part and saved in bounded memory", .enabled(if: isLinux))
    func memory() async throws {
        let bench = try HARBench()
        await #expect(processExitsWith: .success) { [path = bench.url().path as String] in
            let url = URL(filePath: path)
            let text =
                Data((Self.entries[0].dropLast() + #","_x":""#).utf8) + Data(repeating: 0x61, count: 1 << 20)
                + Data(#""}"#.utf8)
            try HARWriter.replace(url) { writer in
                try writer.append(Data(#"{"log":{"entries":["#.utf8))
                for number in 0..<100 { try writer.append((number == 0 ? Data() : Data(",".utf8)) + text) }
                try writer.append(Data("]}}".utf8))
            }
            let before = residentByteCount
            var file = try HARFile(contentsOf: url)
            let loaded = residentByteCount
            _ = try file.exchange(at: 99)
            file.remove(at: 50)
            try file.write(to: url)
            let again = try HARFile(contentsOf: url)
            guard file.count == 99, again.count == 99, loaded - before < 4 << 20, residentByteCount - before < 16 << 20
            else {
                exit(1)
            }
        }
    }

    @Test("F04 Reading a file takes time linear in its length", arguments: [0, 1, 2])
    func linear(kind: Int) throws {
        let bench = try HARBench()
        let url = bench.url()
        let part = [Self.entries[1], #""\\\"\\\\\\\\\\\\""#, #"[[[[[[1,2,{"a":[]}]]]]]]"#][kind]
        let isLinear = try isLinear((1 << 16) / part.utf8.count) { count in
            let entries = Array(repeating: part, count: count).joined(separator: ",")
            try Data(#"{"log":{"entries":[\#(entries)]}}"#.utf8).write(to: url)
            let file = try HARFile(contentsOf: url)
            for index in stride(from: 0, to: file.count, by: 8) { _ = try file.entry(at: index) }
        }
        #expect(isLinear)
    }

    private static var isLinux: Bool {
        #if os(Linux)
        true
        #else
        false
        #endif
    }
}

/// The resident memory of the process in bytes, or 0 where it cannot be read.
private var residentByteCount: Int {
    let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4096 : 0
}
