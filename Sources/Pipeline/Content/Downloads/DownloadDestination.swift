public import Foundation

/// Where a download is put.
///
/// Only a response with a status of 200 to 299 becomes a file: it is written to a temporary file of mode 0600, and moved when every
/// plugin has seen it and the target accepts its status. A response of any other status, and one that has no content (204, 205, any
/// to HEAD), stays in memory under ``PipelineLimits/bufferedBodyByteCount``, and a file at the destination stays there. The body
/// of the response is then the file at its destination. A 206 becomes a file only if it holds exactly the range that the request
/// asked for with its own Range field, or the rest of a resumable download; a part is never taken for the whole.
///
/// ```swift
/// var task: RequestTask {
///     .downloadDestination(.file(cache.appending(path: "cover.jpg"), options: .removePreviousFile))
/// }
/// ```
///
/// **Effects**: the file appears at its destination whole, by a rename; where that is another volume it is copied there first. A
/// directory is never replaced, a symbolic link never followed. Of a download that fails or is cancelled nothing stays behind, save
/// what ``resumable(at:)`` keeps.
///
/// **Errors**: ``PipelineError/Code-swift.struct/file(_:)``: `exists` for a file that is there already, without
/// ``Options/removePreviousFile``; `directory` when a directory is; `notWritable` when the directory is missing, without
/// ``Options/createIntermediateDirectories``, or may not be written; `noSpace` when the disk is full; `busy` when another download
/// has the partial file. ``PipelineError/Code-swift.struct/limit(_:)`` with `bodyBytes` for more bytes than
/// ``PipelineLimits/downloadByteCount``. ``PipelineError/Code-swift.struct/malformedResponse`` for a 206 that the request did not
/// ask for, with the response but without its body.
///
/// Source: RFC 9110 §15.3.7, https://www.rfc-editor.org/rfc/rfc9110.html#section-15.3.7
public struct DownloadDestination: Sendable {
    /// How the file is put there.
    public struct Options: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int

        /// Makes options from their bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Makes the directories that are missing on the way there.
        public static let createIntermediateDirectories = Options(rawValue: 1)
        /// Replaces a file that is there already.
        public static let removePreviousFile = Options(rawValue: 2)
    }

    typealias Choose = @Sendable (_ temporaryFile: URL, _ response: PipelineResponse) throws -> (URL, Options)

    let choose: Choose
    /// Where it will be, so that the temporary file is on the same volume; `nil` when only the answer tells.
    let directory: URL?
    /// See ``resumable(at:)``.
    var partialFile: URL?

    private init(directory: URL?, choose: @escaping Choose) {
        self.directory = directory
        self.choose = choose
    }

    /// This file.
    public static func file(_ url: URL, options: Options = []) -> DownloadDestination {
        DownloadDestination(directory: url.deletingLastPathComponent()) { _, _ in (url, options) }
    }

    /// A file in this directory, under the name that the server suggests.
    ///
    /// The name comes from Content-Disposition, else from the last part of the URL, else it is `download`. It is made safe first: it
    /// names a file in this very directory and no hidden one, has no control characters, none that turn the direction of text, none
    /// that other systems forbid, no name of a device, and at most 200 bytes.
    ///
    /// Source: RFC 6266 §4.3, https://www.rfc-editor.org/rfc/rfc6266.html#section-4.3
    public static func suggestedName(in directory: URL, options: Options = []) -> DownloadDestination {
        DownloadDestination(directory: directory) { _, response in
            (directory.appending(path: SuggestedFileName.make(for: response), directoryHint: .notDirectory), options)
        }
    }

    /// Wherever the closure says; it gets the temporary file, which is whole, and the response.
    ///
    /// An error that it throws is the call's, as ``PipelineError/Code-swift.struct/file(_:)``.
    public static func custom(
        _ choose: @escaping @Sendable (_ temporaryFile: URL, _ response: PipelineResponse) throws -> (URL, Options)
    ) -> DownloadDestination {
        DownloadDestination(directory: nil, choose: choose)
    }

    /// A copy that keeps an unfinished download in this file, from which the next attempt or call with the same file continues.
    ///
    /// Each attempt of a call asks for the rest with Range and If-Range, and adds it if the server confirms that nothing has changed.
    /// If the response has another validator, another length or another range, or is 416, the whole is fetched again: parts of
    /// two versions are never joined. A response to GET is kept if it has a strong ETag, or a Last-Modified that is as good, a
    /// length, and no content coding; of any other response nothing is kept.
    ///
    /// **Effects**: adds `Accept-Encoding: identity` before any plugin, where the target says nothing else. Range and If-Range are added
    /// to each attempt after `prepare` and `intercept`, which do not see them, and before `exchange` and `willSend`, which do: only a
    /// signature that an exchange plugin makes covers them. A small file of the same name with `.resume` at its end holds the validator.
    /// Directories that are missing on the way there are made. Both files are gone when the download is complete. A Range of the target's
    /// own turns resuming off, and so does a method other than GET.
    ///
    /// Source: RFC 9110 §13.1.5 and §14, https://www.rfc-editor.org/rfc/rfc9110.html#section-13.1.5
    public func resumable(at partialFile: URL) -> DownloadDestination {
        var copy = self
        copy.partialFile = partialFile
        return copy
    }
}
