/// The names of this module, for source that qualifies them with the name of the module Alamofire.
@available(swift, deprecated: 7, message: "Write the names without Alamofire.")
public enum Alamofire {
    /// The same as ``PipelineMoya/AFError``, qualified with `Alamofire`.
    public typealias AFError = PipelineMoya.AFError
    /// The same as ``PipelineMoya/HTTPHeaders``, qualified with `Alamofire`.
    public typealias HTTPHeaders = PipelineMoya.HTTPHeaders
    /// The same as ``PipelineMoya/JSONEncoding``, qualified with `Alamofire`.
    public typealias JSONEncoding = PipelineMoya.JSONEncoding
    /// The same as ``PipelineMoya/Request``, qualified with `Alamofire`.
    public typealias Request = PipelineMoya.Request
    /// The same as ``PipelineMoya/RequestInterceptor``, qualified with `Alamofire`.
    public typealias RequestInterceptor = PipelineMoya.RequestInterceptor
    /// The same as ``PipelineMoya/RetryResult``, qualified with `Alamofire`.
    public typealias RetryResult = PipelineMoya.RetryResult
    /// The same as ``PipelineMoya/Session``, qualified with `Alamofire`.
    public typealias Session = PipelineMoya.Session
    /// The same as ``PipelineMoya/URLEncoding``, qualified with `Alamofire`.
    public typealias URLEncoding = PipelineMoya.URLEncoding
}
