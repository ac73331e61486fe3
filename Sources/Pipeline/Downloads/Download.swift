import Foundation
import HTTPTypes

/// The download of a call: takes answers into files, and puts the last at its destination.
struct Download: Sendable {
    /// What to do with an answer.
    enum Step {
        case keepInMemory
        /// Into this file, which holds so many bytes already.
        case write(FileWriter, from: Int)
        /// Not the rest of what is there: ask for the whole.
        case restart(PipelineRequest)
    }

    let destination: DownloadDestination

    private var partial: PartialDownload? { destination.partialFile.map(PartialDownload.init) }

    /// Whether the answer is what was asked for, and has content.
    private static func isContent(_ response: PipelineResponse) -> Bool {
        switch response.statusCode {
        case 204, 205: false
        case 200...299: response.request.method != .head
        default: false
        }
    }

    func step(after response: PipelineResponse, _ context: PipelineContext) throws -> Step {
        guard let partial else {
            guard Self.isContent(response) else { return .keepInMemory }
            return .write(try FileWriter.temporary(in: destination.directory), from: 0)
        }
        let resource = context[DownloadResource.self]
        let offset = PartialDownload.offset(of: response.request)
        if let offset, response.statusCode == 206 || response.statusCode == 416 {
            guard response.statusCode == 206, let record = partial.progress(of: resource)?.record,
                PartialDownload.isRest(response, from: offset, of: record),
                let file = try FileWriter.partial(partial.file, holding: offset)
            else { return .restart(Self.askingForAll(response.request)) }
            return .write(file, from: offset)
        }
        guard Self.isContent(response) else { return .keepInMemory }
        let isWhole = response.statusCode == 200 && isAsStored(response)
        guard isWhole, let validator = PartialDownload.validator(of: response) else {
            return .write(try FileWriter.temporary(in: destination.directory), from: 0)
        }
        guard let file = try FileWriter.partial(partial.file, holding: 0) else { return .keepInMemory }
        let record = PartialDownload.Record(
            resource: resource,
            validator: validator,
            byteCount: response.body.byteCount
        )
        partial.removeRecord()
        try partial.write(record)
        return .write(file, from: 0)
    }

    /// Whether the bytes are those that a range counts.
    private func isAsStored(_ response: PipelineResponse) -> Bool {
        let coding = response.headers[.contentEncoding] ?? "identity"
        return coding.lowercased() == "identity"
    }

    private static func askingForAll(_ request: PipelineRequest) -> PipelineRequest {
        var request = request
        request.headers[.range] = nil
        request.headers[.ifRange] = nil
        return request
    }

    /// Writes the body of an answer into its file.
    func receive(
        _ body: PipelineBody,
        into file: FileWriter,
        from offset: Int,
        _ context: PipelineContext
    ) async throws -> PipelineBody {
        let announced = body.byteCount
        var byteCount = 0
        for try await chunk in body.chunks() {
            guard chunk.count <= context.limits.downloadByteCount - offset - byteCount else {
                throw PipelineError(
                    .limit(.bodyBytes),
                    "the download is larger than the \(context.limits.downloadByteCount) bytes allowed"
                )
            }
            try file.append(chunk)
            byteCount += chunk.count
            context.reportReceived(offset + byteCount, of: announced.map { offset + $0 })
        }
        try body.requireWhole(byteCount)
        return .written(file)
    }

    /// Puts the file at its destination, when the call has succeeded.
    func place(_ response: PipelineResponse, _ context: PipelineContext) async throws -> PipelineResponse {
        guard Self.isContent(response) else {
            return response.body.bytes == nil ? try await response.buffered(context) : response
        }
        var response = response
        var file: FileWriter
        if let written = response.body.writtenFile {
            file = written
        } else {
            // A plugin has answered by itself or changed the body on its way.
            file = try FileWriter.temporary(in: destination.directory)
            response.body = try await receive(response.body, into: file, from: 0, context)
        }
        let (url, options) = try choose(file.url, response)
        if Task.isCancelled { throw CancellationError() }
        guard url.isFileURL else { throw PipelineError.file(.notWritable, url, "is no file URL") }
        let directory = url.deletingLastPathComponent()
        if options.contains(.createIntermediateDirectories) {
            do {
                try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            } catch {
                throw PipelineError.file(.notWritable, directory, "cannot be made", error)
            }
        }
        let replaces = options.contains(.removePreviousFile)
        if try !file.move(to: url, replaces: replaces) {
            let copy = try FileWriter.temporary(exactlyIn: directory)
            for try await chunk in PipelineBody.file(file.url).chunks() { try copy.append(chunk) }
            guard try copy.move(to: url, replaces: replaces) else {
                throw PipelineError.file(.notWritable, url, "cannot be written")
            }
            file = copy
        }
        partial?.remove()
        response.body = .file(url)
        return response
    }

    private func choose(
        _ file: URL,
        _ response: PipelineResponse
    ) throws -> (URL, DownloadDestination.Options) {
        do {
            return try destination.choose(file, response)
        } catch {
            throw PipelineError(
                thrown: error,
                otherwise: .file,
                "the destination of the download threw \(PipelineError.name(of: error))"
            )
        }
    }
}

/// What the record of a partial download calls the resource of this call.
enum DownloadResource: PipelineContextKey {
    static let defaultValue = ""
}
