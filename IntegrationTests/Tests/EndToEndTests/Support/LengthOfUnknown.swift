#if AsyncHTTPClient
/// The Content-Length of a stream of 1,024 bytes that does not announce its length: it is sent in chunks.
let lengthOfUnknown: String? = nil
#else
/// The Content-Length of a stream of 1,024 bytes that does not announce its length: URLSession reads it first.
let lengthOfUnknown: String? = "1024"
#endif
