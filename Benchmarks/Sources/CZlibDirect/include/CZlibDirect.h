#include <stddef.h>

// Calls of zlib by a program that knows all sizes in advance. Each returns the length of the output, or 0 on failure.

/// Decodes gzip in one call, into a new buffer of the right size.
size_t direct_inflate(const unsigned char *input, size_t count, size_t decoded_count);
/// Decodes gzip in pieces, into a buffer that is reused for each piece.
size_t direct_inflate_pieces(const unsigned char *input, size_t count, size_t piece);
/// Compresses to gzip in one call, into a new buffer that is large enough.
size_t direct_deflate(const unsigned char *input, size_t count, int level);
/// Compresses to gzip in pieces, into a buffer that is reused for each piece.
size_t direct_deflate_pieces(const unsigned char *input, size_t count, size_t piece, int level);
/// Compresses to gzip, into an output buffer of room bytes.
size_t direct_gzip(const unsigned char *input, size_t count, int level, unsigned char *output, size_t room);
/// Compresses a number of zeros to a raw deflate block, flushed so that it can be repeated.
size_t direct_block_of_zeros(size_t zeros, unsigned char *output, size_t room);
