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

@Suite("Scanning HAR files", .watched)
struct HARScannerTests {
    @Test(
        "F04 Nesting of 100,000 levels is an error at its byte, inside and outside an entry",
        arguments: ["[", #"{"a":"#]
    )
    func depth(bracket: String) throws {
        let bench = try HARBench()
        let bomb = String(repeating: bracket, count: 100_000)
        let inside = try bench.write(#"{"log":{"entries":["# + bomb)
        let place = failure { _ = try HARFile(contentsOf: inside) }?.underlyingError as? HARFailure
        #expect(place?.offset == 19 + (JSONParser.maximumDepth - 3) * bracket.utf8.count)
        #expect(place?.index == 0)
        let outside = try bench.write(#"{"x":"# + bomb)
        #expect(failure { _ = try HARFile(contentsOf: outside) }?.code == .recording(.corrupt))
    }

    @Test("F04 Times that are not numbers are read as unknown")
    func notANumber() throws {
        let bench = try HARBench()
        let entry =
            #"{"time":NaN,"timings":{"send":NaN,"wait":-Infinity},"request":{"method":"GET","url":"u"},"response":{"status":200}}"#
        #expect(try HARFile(contentsOf: bench.write(entries: [entry])).exchange(at: 0).duration == .zero)
    }

    @Test("F04 More entries than the maximum are an error")
    func tooMany() throws {
        let bench = try HARBench()
        let data =
            Data(#"{"log":{"entries":[0"#.utf8)
            + Data(String(repeating: ",0", count: HARScanner.maximumEntryCount).utf8)
        try (data + Data("]}}".utf8)).write(to: bench.url())
        let place = failure { _ = try HARFile(contentsOf: bench.url()) }?.underlyingError as? HARFailure
        #expect(place?.index == HARScanner.maximumEntryCount)
    }

    @Test("A file read in windows of any length has the same entries")
    func windows() throws {
        let bytes = Array(HARFileFaultTests.whole.utf8)
        var expected = HARScanner()
        try bytes.withUnsafeBytes { try expected.scan($0, at: 0) }
        try expected.finish(at: bytes.count)
        #expect(expected.entries.map { String(decoding: bytes[$0], as: UTF8.self) } == HARFileFaultTests.entries)
        for length in 1..<40 {
            var scanner = HARScanner()
            for start in stride(from: 0, to: bytes.count, by: length) {
                try Array(bytes[start..<min(start + length, bytes.count)]).withUnsafeBytes {
                    try scanner.scan($0, at: start)
                }
            }
            try scanner.finish(at: bytes.count)
            #expect(scanner.entries == expected.entries)
            #expect(scanner.end == expected.end)
        }
    }
}
