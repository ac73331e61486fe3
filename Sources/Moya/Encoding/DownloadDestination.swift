public import Foundation
import PipelineCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A closure that decides where a download is saved, given the complete temporary file and the response.
///
/// It runs only for a response with a status of 200 to 299.
@available(swift, deprecated: 7, message: "Use DownloadDestination of Pipeline.")
public typealias DownloadDestination = DownloadRequest.Destination

/// The names that belong to a download.
@available(swift, deprecated: 7, message: "Use DownloadDestination of Pipeline.")
public enum DownloadRequest {
    /// A closure that decides where a download is saved.
    public typealias Destination =
        @Sendable (
            _ temporaryURL: URL, _ response: HTTPURLResponse
        ) -> (destinationURL: URL, options: Options)

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
}

extension PipelineCore.DownloadDestination {
    static func moya(_ destination: @escaping DownloadRequest.Destination) -> Self {
        .custom { file, response in
            guard let head = response.httpURLResponse else {
                throw PipelineError(.malformedResponse, "the response has no URL for a download destination")
            }
            let (url, options) = destination(file, head)
            return (url, Options(rawValue: options.rawValue))
        }
    }
}
