import Foundation

/// What transports throw for Foundation's errors.
package enum TransportFailure {
    /// A `URLError` as the typed error of a real exchange; every other as it is.
    package static func of(_ error: any Error) -> any Error {
        (error as NSError).domain == NSURLErrorDomain ? URLErrorMapping.pipelineError(for: error) : error
    }
}
