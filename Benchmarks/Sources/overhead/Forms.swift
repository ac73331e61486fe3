import Foundation
import Pipeline

/// The encoding of forms, compared with copying the same bytes and with reading the same file.
enum Forms {
    private struct Upload: TargetType {
        let form: MultipartFormData

        var baseURL: URL { URL(string: "https://api.example.com/v1") ?? URL(fileURLWithPath: "/") }
        var path: String { "/photos" }
        var method: HTTPMethod { .post }
        var task: RequestTask { .uploadMultipartFormData(form) }
        var headers: [String: String]? { nil }
    }

    private struct WrongLength: Error {}

    private static let pieceByteCount = 64 << 10

    /// Returns the comparisons, for which it writes a file to the folder.
    static func comparisons(in folder: URL, isQuick: Bool) throws -> [Comparison] {
        let photo = Data((0..<(512 << 10)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let file = folder.appending(path: "film.bin")
        let fileByteCount = isQuick ? 1 << 20 : 64 << 20
        try Data(count: fileByteCount).write(to: file)
        return [
            inMemory(photo, count: isQuick ? 2 : 100),
            Comparison(name: "form with a file, beside reading the file", byteCount: fileByteCount) {
                try await read(form(.file(file)), atLeast: fileByteCount)
            } yardstick: {
                let handle = try FileHandle(forReadingFrom: file)
                var count = 0
                while let piece = try handle.read(upToCount: pieceByteCount), !piece.isEmpty { count += piece.count }
                try handle.close()
                guard count == fileByteCount else { throw WrongLength() }
            },
        ]
    }

    private static func inMemory(_ photo: Data, count: Int) -> Comparison {
        Comparison(name: "form in memory, beside copying its bytes", byteCount: count * photo.count) {
            for _ in 0..<count {
                let request = try Endpoint(Upload(form: form(.bytes(photo)))).makeRequest()
                guard let bytes = request.body.bytes, bytes.count > photo.count else { throw WrongLength() }
            }
        } yardstick: {
            for _ in 0..<count { photo.withUnsafeBytes { consume(Data($0)) } }
        }
    }

    private static func form(_ content: PipelineBody) -> MultipartFormData {
        [
            MultipartFormBodyPart(.bytes(Data("A lamp".utf8)), name: "title"),
            MultipartFormBodyPart(.bytes(Data("Brass, about 1920".utf8)), name: "text"),
            MultipartFormBodyPart(
                content,
                name: "content",
                fileName: "content.bin",
                mimeType: "application/octet-stream"
            ),
        ]
    }

    private static func read(_ form: MultipartFormData, atLeast byteCount: Int) async throws {
        let request = try Endpoint(Upload(form: form)).makeRequest()
        var count = 0
        for try await piece in request.body.chunks() { count += piece.count }
        guard count > byteCount else { throw WrongLength() }
    }
}
