public import Foundation

/// Where a download is saved.
///
/// A response with a status of 200 to 299 is written to a temporary file of mode 0600. When every plugin has seen the
/// response and the target accepts its status, the file is moved to its destination and becomes the body of the
/// response.
///
/// A response with any other status or without content (204, 205, any response to HEAD) stays in memory, up to
/// ``ProviderConfiguration/Limits/bufferedBodyByteCount``. A file that exists at the destination is then left
/// unchanged.
///
/// A 206 response becomes a file if it holds exactly the range that the request's own Range field asked for, or the
/// rest of a resumable download. A part is never saved as the whole.
///
/// ```swift
/// var task: RequestTask {
///     .downloadDestination(.file(cache.appending(path: "cover.jpg"), options: .removePreviousFile))
/// }
/// ```
///
/// **Effects**: the complete file appears at its destination by a rename. If the destination is on another volume, the
/// file is first copied to that volume. A directory is never replaced, and a symbolic link is never followed. A
/// download that fails or is cancelled leaves no files, except those that ``resumable(at:)`` keeps.
///
/// **Errors**
/// - ``PipelineError/Code-swift.struct/file(_:)`` with `exists`: the destination exists and
///   ``Options/removePreviousFile`` is not set.
/// - ``PipelineError/Code-swift.struct/file(_:)`` with `directory`: the destination is a directory.
/// - ``PipelineError/Code-swift.struct/file(_:)`` with `notWritable`: the destination's directory cannot be written, or
///   it is missing and ``Options/createIntermediateDirectories`` is not set.
/// - ``PipelineError/Code-swift.struct/file(_:)`` with `noSpace`: the disk is full.
/// - ``PipelineError/Code-swift.struct/file(_:)`` with `busy`: another download is using the partial file.
/// - ``PipelineError/Code-swift.struct/file(_:)`` with `checksum`: the file is not the one that ``verifying(_:)``
///   expects.
/// - ``PipelineError/Code-swift.struct/limit(_:)`` with `bodyBytes`: the download is larger than
///   ``ProviderConfiguration/Limits/downloadByteCount``.
/// - ``PipelineError/Code-swift.struct/malformedResponse``: the server sent a 206 that the request did not ask for. The
///   error has the response without its body.
///
/// Source: RFC 9110 §15.3.7, https://www.rfc-editor.org/rfc/rfc9110.html#section-15.3.7
public struct DownloadDestination: Sendable {
    /// Options for saving the file at its destination.
    public struct Options: OptionSet, Sendable {
        /// The raw bits of the option set.
        public let rawValue: Int

        /// Creates options from their raw bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Creates missing directories on the path to the destination.
        public static let createIntermediateDirectories = Options(rawValue: 1)
        /// Replaces an existing file at the destination.
        public static let removePreviousFile = Options(rawValue: 2)
    }

    typealias Choose = @Sendable (_ temporaryFile: URL, _ response: PipelineResponse) throws -> (URL, Options)

    let choose: Choose
    /// The destination's directory, so that the temporary file is on the same volume; `nil` if the response determines
    /// it.
    let directory: URL?
    /// The file set by ``resumable(at:)``.
    var partialFile: URL?
    /// What the file must hold; `nil` for anything.
    var checksum: Checksum?
    /// Returns the file for a response, before it is complete; `nil` if a closure of the user decides later.
    let place: @Sendable (PipelineResponse) -> URL?

    private init(
        directory: URL?,
        place: @escaping @Sendable (PipelineResponse) -> URL? = { _ in nil },
        choose: @escaping Choose
    ) {
        self.directory = directory
        self.place = place
        self.choose = choose
    }

    private init(
        directory: URL,
        _ options: Options,
        place: @escaping @Sendable (PipelineResponse) -> URL
    ) {
        self.init(directory: directory, place: place) { _, response in (place(response), options) }
    }

    /// Saves the download as the given file.
    public static func file(_ url: URL, options: Options = []) -> DownloadDestination {
        DownloadDestination(directory: url.deletingLastPathComponent(), options) { _ in url }
    }

    /// Saves the download in a directory, under the name that the server suggests.
    ///
    /// The name comes from Content-Disposition. If that is missing or unusable, it is the last path component of the
    /// URL, and otherwise `download`.
    ///
    /// The name is sanitized: the file is always directly in this directory and never hidden. Control characters,
    /// characters that change the direction of text and characters that other systems forbid are removed or replaced. A
    /// reserved device name is changed, and the name has at most 200 bytes.
    ///
    /// Source: RFC 6266 §4.3, https://www.rfc-editor.org/rfc/rfc6266.html#section-4.3
    public static func suggestedName(in directory: URL, options: Options = []) -> DownloadDestination {
        DownloadDestination(directory: directory, options) { response in
            directory.appending(path: SuggestedFileName.make(for: response), directoryHint: .notDirectory)
        }
    }

    /// Saves the download where a closure decides, given the complete temporary file and the response.
    ///
    /// If the closure throws, the call fails with that error; one other than ``PipelineError`` becomes
    /// ``PipelineError/Code-swift.struct/file(_:)``.
    public static func custom(
        _ choose: @escaping @Sendable (_ temporaryFile: URL, _ response: PipelineResponse) throws -> (URL, Options)
    ) -> DownloadDestination {
        DownloadDestination(directory: nil, choose: choose)
    }

    /// Returns a copy that keeps an unfinished download in a file, from which the next attempt or call resumes.
    ///
    /// Each attempt of a call requests the missing bytes with Range and If-Range. They are appended if the server
    /// confirms that the resource has not changed. If the response is 416 or has another validator, length or range,
    /// the whole resource is downloaded again: parts of two versions are never joined.
    ///
    /// A response to GET can be resumed if it has a length, no content coding, and a strong ETag or an equally strong
    /// Last-Modified. Nothing is kept of any other response.
    ///
    /// **Effects**: adds `Accept-Encoding: identity` before any plugin, unless the target sets Accept-Encoding. Range
    /// and If-Range are added to each attempt after `prepare` and `intercept` and before `exchange` and `willSend`.
    /// Only a signature made in `exchange` can therefore cover them.
    ///
    /// A small file with the extension `.resume` next to the partial file holds the validator. Missing directories on
    /// the path to the partial file are created. Both files are removed when the download is complete. Resuming is off
    /// if the target sets its own Range field or uses a method other than GET.
    ///
    /// Source: RFC 9110 §13.1.5 and §14, https://www.rfc-editor.org/rfc/rfc9110.html#section-13.1.5
    public func resumable(at partialFile: URL) -> DownloadDestination {
        var copy = self
        copy.partialFile = partialFile
        return copy
    }

    /// Returns a copy that compares the complete file with a checksum before it appears at its destination.
    ///
    /// ```swift
    /// .downloadDestination(.file(url).verifying(.sha256(release.checksum)))
    /// ```
    ///
    /// If they differ, the call fails with ``PipelineError/Code-swift.struct/file(_:)`` and `checksum`, and nothing is
    /// left: no file at the destination, and no partial file. A checksum that cannot be one fails before anything is
    /// sent. The complete file is read a second time for it.
    public func verifying(_ checksum: Checksum) -> DownloadDestination {
        var copy = self
        copy.checksum = checksum
        return copy
    }
}
