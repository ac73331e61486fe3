import Foundation
import Pipeline
import PipelineTesting

#if FUZZER
import FuzzSupport
#endif

/// Fuzzes the reading and writing of multipart forms.
///
/// The first byte selects raw bytes for the reader alone, or a form that is written and read back.
#if FUZZER
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzMultipart(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    switch input.number(below: 4) {
    case 0: readBody(&input)
    case 1: readContentType(&input)
    default: writeAndRead(&input)
    }
    return 0
}

/// Checks that any body is read or refused, and that what is read can be written again byte for byte.
private func readBody(_ input: inout FuzzInput) {
    let body = Data(input.remainder())
    do {
        let parts = try MultipartReader.parts(of: body, contentType: "multipart/form-data; boundary=B")
        var again = Data()
        for (index, part) in parts.enumerated() {
            again += Data(((index == 0 ? "" : "\r\n") + "--B\r\n").utf8)
            for line in part.headerLines { again += Data((line + "\r\n").utf8) }
            again += Data("\r\n".utf8) + part.content
        }
        require(
            again + Data("\r\n--B--\r\n".utf8) == body,
            "the parts that were read, written again, differ from the body"
        )
    } catch let failure as MultipartReader.Failure {
        require((0...body.count).contains(failure.offset), "the offset \(failure.offset) is outside of the body")
    } catch {
        require(false, "expected a MultipartReader.Failure: \(error)")
    }
}

private func readContentType(_ input: inout FuzzInput) {
    let text = String(decoding: input.remainder(), as: UTF8.self)
    do {
        let parts = try MultipartReader.parts(of: Data(), contentType: text)
        require(parts.isEmpty, "an empty body has parts")
    } catch let failure as MultipartReader.Failure {
        require(
            (0...text.utf8.count).contains(failure.offset),
            "the offset \(failure.offset) is outside of the Content-Type"
        )
    } catch {
        require(false, "expected a MultipartReader.Failure: \(error)")
    }
}

private func writeAndRead(_ input: inout FuzzInput) {
    let boundary = input.number(below: 3) == 0 ? nil : input.text(upTo: 72)
    var parts: [MultipartFormBodyPart] = []
    var contents: [Data] = []
    for _ in 0...input.number(below: 4) {
        let content = Data(input.bytes(upTo: 40))
        let flags = input.number(below: 4)
        contents.append(content)
        parts.append(
            MultipartFormBodyPart(
                .bytes(content),
                name: input.text(upTo: 20),
                fileName: flags & 1 == 0 ? nil : input.text(upTo: 20),
                mimeType: flags & 2 == 0 ? nil : MIMEType(input.text(upTo: 20))
            )
        )
    }
    let form = MultipartFormData(boundary: boundary, parts: parts)
    let endpoint = Endpoint(url: "https://h/", method: .post, task: .uploadMultipartFormData(form))
    do {
        let request = try endpoint.makeRequest()
        let body = request.body.bytes ?? Data()
        let type = request.headers[.contentType] ?? ""
        let read = try MultipartReader.parts(of: body, contentType: type)
        require(read.map(\.content) == contents, "the parts that were read have different contents")
        for (part, written) in zip(read, parts) {
            require(part.name.utf8.elementsEqual(escaped(written.name)), "the name that was read differs")
            require(
                part.fileName.map { Array($0.utf8) } == written.fileName.map(escaped),
                "the file name that was read differs"
            )
            require(
                part.headerLines.count == (part.mimeType == nil ? 1 : 2),
                "a part has \(part.headerLines.count) header lines"
            )
            require(
                written.mimeType == nil || part.mimeType == written.mimeType?.description,
                "the media type that was read differs"
            )
        }
    } catch let error as PipelineError {
        let isKnown = error.code == .encoding || error.code == .invalidRequest(.headerValue)
        require(isKnown, "unexpected error code: \(error)")
    } catch {
        require(false, "a form that was written cannot be read: \(error)")
    }
}

/// Returns a name as it is sent on the wire, computed independently of the writer.
private func escaped(_ name: String) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    return name.utf8.flatMap { byte -> [UInt8] in
        guard byte == 34 || byte == 127 || (byte < 32 && byte != 9) else { return [byte] }
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
}
