#if AsyncHTTPClient
/// The Content-Length of a stream of 1,024 bytes that does not say so: it is sent in chunks.
let lengthOfUnknown: String? = nil
#else
/// The Content-Length of a stream of 1,024 bytes that does not say so: URLSession reads it first.
let lengthOfUnknown: String? = "1024"
#endif
