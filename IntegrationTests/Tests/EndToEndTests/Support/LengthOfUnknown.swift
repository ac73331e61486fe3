/// The Content-Length of a stream of 1,024 bytes that does not announce its length: it is sent in chunks.
let lengthOfUnknown: String? = nil
