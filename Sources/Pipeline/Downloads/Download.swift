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

    /// Asks for the rest of what is there, where a part is kept.
    func ask(in request: inout PipelineRequest, _ context: PipelineContext) {
        guard let partial else { return }
        let resumption = partial.ask(in: &request)
        context.update(DownloadResumption.self) { $0 = resumption }
    }

    /// Whether the answer is what was asked for, and has content.
    private static func isContent(_ response: PipelineResponse) -> Bool {
        switch response.statusCode {
        case 204, 205: false
        case 200...299: response.request.method != .head
        default: false
        }
    }

    func step(after response: PipelineResponse, _ context: PipelineContext) throws -> Step {
        guard let partial, let resumption = context[DownloadResumption.self] else {
            return try writeOnly(response)
        }
        if let offset = resumption.offset, response.request.headers.contains(.ifRange),
            response.statusCode == 206 || response.statusCode == 416
        {
            let rest = try rest(of: partial, from: offset, response, context)
            return rest ?? .restart(Self.askingForAll(response.request))
        }
        guard response.statusCode == 200, PartialDownload.isAsStored(response),
            let validator = PartialDownload.validator(of: response), let byteCount = response.body.byteCount,
            let file = try take(partial, context)
        else { return try writeOnly(response) }
        partial.removeRecord()
        try file.truncate(to: 0)
        try partial.write(.init(resource: resumption.resource, validator: validator, byteCount: byteCount))
        return .write(file, from: 0)
    }

    /// A file that nobody goes on with.
    private func writeOnly(_ response: PipelineResponse) throws -> Step {
        guard Self.isContent(response) else { return .keepInMemory }
        return .write(try FileWriter.temporary(in: destination.directory), from: 0)
    }

    /// The step that adds an answer to what is there, `nil` when it does not fit.
    private func rest(
        of partial: PartialDownload,
        from offset: Int,
        _ response: PipelineResponse,
        _ context: PipelineContext
    ) throws -> Step? {
        guard response.statusCode == 206, let file = try take(partial, context), file.byteCount >= offset,
            let record = partial.record(of: context[DownloadResumption.self]?.resource ?? ""),
            PartialDownload.isRest(response, from: offset, of: record)
        else { return nil }
        // There is more when an earlier attempt of this call has got further.
        try file.truncate(to: offset)
        return .write(file, from: offset)
    }

    /// The partial file, locked; `nil` when another exchange of the same call has it.
    private func take(_ partial: PartialDownload, _ context: PipelineContext) throws -> FileWriter? {
        do {
            try Self.makeDirectory(partial.file.deletingLastPathComponent())
            let file = try FileWriter.partial(partial.file)
            context.update(DownloadResumption.self) { $0?.isTaken = true }
            return file
        } catch let error as PipelineError where error.code == .file(.busy) {
            guard context[DownloadResumption.self]?.isTaken == true else { throw error }
            return nil
        }
    }

    private static func makeDirectory(_ directory: URL) throws {
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            throw PipelineError.file(.notWritable, directory, "cannot be made", error)
        }
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
        let file: FileWriter
        if let written = response.body.writtenFile {
            file = written
        } else {
            // A plugin has answered by itself or changed the body on its way.
            file = try FileWriter.temporary(in: destination.directory)
            response.body = try await receive(response.body, into: file, from: 0, context)
        }
        // Before the part has its new name, after which another download may begin one.
        if file.url == partial?.file { partial?.removeRecord() }
        defer { removePartial(after: file) }
        let (url, options) = try choose(file.url, response)
        try await move(file, to: url, options)
        response.body = .file(url)
        return response
    }

    private func move(_ file: FileWriter, to url: URL, _ options: DownloadDestination.Options) async throws {
        try Task.checkCancellation()
        guard url.isFileURL else { throw PipelineError.file(.notWritable, url, "is no file URL") }
        let directory = url.deletingLastPathComponent()
        if options.contains(.createIntermediateDirectories) { try Self.makeDirectory(directory) }
        let replaces = options.contains(.removePreviousFile)
        guard try !file.move(to: url, replaces: replaces) else { return }
        let copy = try FileWriter.temporary(exactlyIn: directory)
        for try await chunk in PipelineBody.file(file.url).chunks() {
            try Task.checkCancellation()
            try copy.append(chunk)
        }
        guard try copy.move(to: url, replaces: replaces) else {
            throw PipelineError.file(.notWritable, url, "cannot be written")
        }
    }

    /// A part that is whole cannot be gone on with, whatever has become of it.
    private func removePartial(after file: FileWriter) {
        guard let partial else { return }
        if file.url == partial.file {
            file.removeName()
        } else {
            partial.remove()
        }
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

/// What the call has asked for, `nil` when it cannot be gone on with.
enum DownloadResumption: PipelineContextKey {
    static let defaultValue: PartialDownload.Resumption? = nil
}
