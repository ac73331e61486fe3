import Foundation
import HTTPTypes

/// The download of a call, which writes responses to files and moves the last one to its destination.
struct Download: Sendable {
    /// What to do with a response.
    enum Step {
        case keepInMemory
        /// Write it to this file, which already holds `from` bytes. The complete file has `to` bytes; `nil` if that is
        /// unknown.
        case write(FileWriter, from: Int, to: Int? = nil)
        /// The response does not continue the partial file: request the whole resource.
        case restart
    }

    let destination: DownloadDestination
    /// The lane in which all files of the call are written.
    let lane = FileLane()

    private var partial: PartialDownload? { destination.partialFile.map { PartialDownload(file: $0, lane: lane) } }

    /// Records what the call may resume, before any plugin sees the request.
    func prepare(_ request: inout PipelineRequest, _ context: PipelineContext) throws {
        try destination.checksum?.check()
        guard let partial else { return }
        let resumption = partial.prepare(&request)
        context.update(DownloadResumption.self) { $0 = resumption }
    }

    /// Requests the rest of the partial file; called for every attempt.
    func ask(in request: inout PipelineRequest, _ context: PipelineContext) async {
        guard let partial, let resumption = context[DownloadResumption.self] else { return }
        await partial.ask(in: &request, for: resumption.resource)
    }

    /// Whether the response becomes a file: it must be successful and have content.
    private static func isContent(_ response: PipelineResponse) -> Bool {
        switch response.statusCode {
        case 204, 205: false
        case 200...299: response.request.method != .head
        default: false
        }
    }

    /// Writes a response to its file, unless it stays in memory.
    ///
    /// - Returns: whether the download must start over.
    func take(_ response: inout PipelineResponse, _ context: PipelineContext) async throws -> Bool {
        // Without a partial file and without content, there is nothing to write.
        let mayBeWritten = partial != nil || Self.isContent(response)
        let step =
            mayBeWritten ? try await lane.run { [response] in try makeStep(after: response, context) } : .keepInMemory
        switch step {
        case .keepInMemory:
            if response.body.bytes == nil { response = try await response.buffered(context) }
        case .restart:
            return true
        case .write(let file, let offset, let end):
            response.body = try await receive(response.body, into: file, from: offset, to: end, context)
        }
        return false
    }

    /// Decides what to do with a response, and creates or truncates the file it is written to.
    private func makeStep(after response: PipelineResponse, _ context: PipelineContext) throws -> Step {
        guard let partial, let resumption = context[DownloadResumption.self] else {
            return try writeOnly(response)
        }
        if response.statusCode == 206 || response.statusCode == 416,
            let offset = PartialDownload.offset(askedForIn: response.request)
        {
            let rest = try rest(of: partial, from: offset, response, context)
            return rest ?? .restart
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

    /// Writes a temporary file, which no later attempt resumes.
    private func writeOnly(_ response: PipelineResponse) throws -> Step {
        guard Self.isContent(response) else { return .keepInMemory }
        try Self.requireAsked(response)
        return .write(try makeFile(for: response), from: 0)
    }

    private func makeFile(for response: PipelineResponse) throws -> FileWriter {
        try FileWriter.temporary(in: destination.directory, lane, for: destination.place(response))
    }

    /// Throws if the response is a part that the request did not ask for, because it must not be saved as the whole.
    private static func requireAsked(_ response: PipelineResponse) throws {
        guard let mismatch = PartialContent.mismatch(of: response) else { return }
        var response = response
        response.body = .absent
        throw PipelineError(.malformedResponse, mismatch, response: response)
    }

    /// Returns the step that appends a response to the partial file; `nil` if the response does not continue it.
    private func rest(
        of partial: PartialDownload,
        from offset: Int,
        _ response: PipelineResponse,
        _ context: PipelineContext
    ) throws -> Step? {
        guard response.statusCode == 206, !context.hasUnverifiedContent,
            let file = try take(partial, context), file.byteCount >= offset,
            let record = partial.record(of: context[DownloadResumption.self]?.resource ?? ""),
            PartialDownload.isRest(response, from: offset, of: record)
        else { return nil }
        // The file is longer if another attempt of this call has written to it in the meantime.
        try file.truncate(to: offset)
        return .write(file, from: offset, to: record.byteCount)
    }

    /// Opens and locks the partial file; returns `nil` if another exchange of the same call holds it.
    private func take(_ partial: PartialDownload, _ context: PipelineContext) throws -> FileWriter? {
        do {
            try Self.makeDirectory(partial.file.deletingLastPathComponent())
            let file = try FileWriter.partial(partial.file, lane)
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

    /// Returns the request without its Range and If-Range fields.
    static func askingForAll(_ request: PipelineRequest) -> PipelineRequest {
        var request = request
        request.headers[.range] = nil
        request.headers[.ifRange] = nil
        return request
    }

    /// Writes a body to its file, which holds `offset` bytes before and must hold `end` bytes afterwards, unless `end`
    /// is `nil`.
    func receive(
        _ body: PipelineBody,
        into file: FileWriter,
        from offset: Int,
        to end: Int? = nil,
        _ context: PipelineContext
    ) async throws -> PipelineBody {
        let announced = end.map { $0 - offset } ?? body.byteCount
        var byteCount = 0
        for try await chunk in body.chunks() {
            guard chunk.count <= context.limits.downloadByteCount - offset - byteCount else {
                throw PipelineError(
                    .limit(.bodyBytes),
                    "the download is larger than limits.downloadByteCount, \(context.limits.downloadByteCount) bytes"
                )
            }
            try await lane.run { try file.append(chunk) }
            byteCount += chunk.count
            context.reportReceived(offset + byteCount, of: announced.map { offset + $0 })
        }
        try PipelineBody.requireWhole(byteCount, of: end.map { $0 - offset } ?? body.announcedByteCount)
        // The surplus stays in the file, so the next call cannot resume from it.
        guard end == nil || end == offset + byteCount else {
            throw PipelineError(.malformedResponse, "the body is longer than the range that its Content-Range gives")
        }
        return .written(file, byteCount: offset + byteCount)
    }

    /// Moves the file to its destination after the call has succeeded.
    func place(_ response: PipelineResponse, _ context: PipelineContext) async throws -> PipelineResponse {
        guard Self.isContent(response) else {
            return response.body.bytes == nil ? try await response.buffered(context) : response
        }
        var response = response
        let file: FileWriter
        if let written = response.body.writtenFile {
            file = written
        } else {
            // A plugin has made the response or replaced its body.
            try Self.requireAsked(response)
            file = try await lane.run { [response] in try makeFile(for: response) }
            response.body = try await receive(response.body, into: file, from: 0, context)
        }
        defer { removePartial(after: file) }
        // The record goes before the file is renamed, because another download may start a partial file after that.
        if let partial, file.url == partial.file { try await lane.run { partial.removeRecord() } }
        try await destination.checksum?.check(file.url)
        let (url, options) = try choose(file.url, response)
        try await move(file, to: url, options)
        response.body = .file(url, byteCount: response.body.byteCount)
        return response
    }

    private func move(_ file: FileWriter, to url: URL, _ options: DownloadDestination.Options) async throws {
        try Task.checkCancellation()
        guard url.isFileURL else { throw PipelineError.file(.notWritable, url, "is not a file URL") }
        let directory = url.deletingLastPathComponent()
        let replaces = options.contains(.removePreviousFile)
        let isMoved = try await lane.run {
            if options.contains(.createIntermediateDirectories) { try Self.makeDirectory(directory) }
            return try file.move(to: url, replaces: replaces)
        }
        if isMoved { return }
        let copy = try await lane.run { try FileWriter.temporary(exactlyIn: directory, lane, for: url) }
        for try await chunk in PipelineBody.file(file.url).chunks() {
            try await lane.run { try copy.append(chunk) }
        }
        guard try await lane.run({ try copy.move(to: url, replaces: replaces) }) else {
            throw PipelineError.file(.notWritable, url, "cannot be written")
        }
    }

    /// A complete partial file cannot be resumed, even if moving it failed.
    private func removePartial(after file: FileWriter) {
        guard let partial else { return }
        lane.add {
            if file.url == partial.file {
                file.removeName()
            } else {
                partial.remove()
            }
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
                otherwise: .file(.notWritable),
                "the destination of the download threw \(PipelineError.name(of: error))"
            )
        }
    }
}

/// What the call may resume; `nil` if its request cannot be resumed.
enum DownloadResumption: PipelineContext.Key {
    static let defaultValue: PartialDownload.Resumption? = nil
}
