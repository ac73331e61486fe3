import Foundation
import Pipeline

@testable import PipelineRecording
@testable import PipelineRedaction

#if FUZZER
import FuzzSupport
#endif

/// Fuzzes the reading and writing of HAR files.
///
/// The first byte selects JSON alone, one entry, or a whole file.
///
/// Any input is read, or refused with a typed error whose offset lies within the input. What is read can be written,
/// and gives the same result when it is read again.
#if FUZZER
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzHAR(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let kind = input.number(below: 3)
    let bytes = Array(input.remainder())
    switch kind {
    case 0: _ = readJSON(bytes)
    case 1: readJSON(bytes).map { readEntry(HAREntry(json: $0)) }
    default: readFile(Data(bytes))
    }
    return 0
}

private func readJSON(_ bytes: [UInt8]) -> JSONNode? {
    do throws(JSONParser.Failure) {
        let node = try JSONParser.parse(bytes)
        for text in [node.data(), node.data(indentation: 2)] {
            require((try? JSONParser.parse(text)) == node, "the JSON that was written is read as another value")
        }
        return node
    } catch {
        require((0...bytes.count).contains(error.offset), "the offset \(error.offset) is outside of the text")
        require(!error.reason.isEmpty, "a parse error has no reason")
        return nil
    }
}

private func readEntry(_ entry: HAREntry) {
    do {
        let exchange = try entry.exchange(sideFiles: nil)
        let fields = [exchange.request.headers, exchange.response?.headers ?? [:], exchange.response?.trailers ?? [:]]
        for field in fields.joined() {
            let isClean = field.withUnsafeBytesOfValue { $0.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 9 } }
            require(isClean, "a header field contains a control character")
        }
        require(
            exchange.headDelay <= exchange.duration && exchange.headDelay >= .zero,
            "the head delay \(exchange.headDelay) is negative or longer than the duration \(exchange.duration)"
        )
        let written = HAREntry(exchange)
        let again = try written.exchange(sideFiles: nil)
        require(
            again.request.headers == exchange.request.headers,
            "writing the entry changes the header fields of the request"
        )
        require(
            again.response?.headers == exchange.response?.headers,
            "writing the entry changes the header fields of the response"
        )
        require(again.request.body == exchange.request.body, "writing the entry changes the body of the request")
        require(again.response?.body == exchange.response?.body, "writing the entry changes the body of the response")
        require(again.response?.status == exchange.response?.status, "writing the entry changes the status")
        require(
            again.duration == exchange.duration && again.headDelay == exchange.headDelay,
            "writing the entry changes the times"
        )
        require(again.failure?.code == exchange.failure?.code, "writing the entry changes the failure")
    } catch let error as PipelineError {
        require(error.code == .recording(.corrupt), "unexpected error code: \(error)")
    } catch {
        require(false, "expected a PipelineError: \(error)")
    }
}

/// The location of the file, in memory if possible, because each file is synchronized.
private let place: URL = {
    let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
    let folder = FileManager.default.fileExists(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
    return folder.appending(path: "fuzz-\(UUID().uuidString).har")
}()

private func readFile(_ data: Data) {
    do {
        try data.write(to: place)
        defer { try? FileManager.default.removeItem(at: place) }
        var file = try HARFile(contentsOf: place)
        try file.write(to: place)
        require(try Data(contentsOf: place) == data, "writing an unchanged file changes its bytes")
        for index in 0..<min(file.count, 64) {
            guard let entry = try? file.entry(at: index) else { continue }
            readEntry(entry)
        }
        let count = file.count
        file.append(HAREntry(json: .object([])))
        try file.write(to: place)
        let again = try HARFile(contentsOf: place)
        require(again.count == count + 1, "the file has \(again.count) entries, not \(count + 1)")
        require(try again.entry(at: count).json == .object([]), "the last entry is not the one that was appended")
    } catch let error as PipelineError {
        require(error.code == .recording(.corrupt), "unexpected error code: \(error)")
        let failure = error.underlyingError as? HARFailure
        require(
            failure.map { (0...data.count).contains($0.offset) } == true,
            "the offset is missing or outside of the file: \(error)"
        )
    } catch {
        require(false, "expected a PipelineError: \(error)")
    }
}
