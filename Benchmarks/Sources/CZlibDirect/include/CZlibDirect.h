#include <stddef.h>

// zlib as a program calls it that knows all sizes before. Each gives the length of the output, 0 for a failure.

/// Decodes gzip at once, into a new buffer of the right size.
size_t direct_inflate(const unsigned char *input, size_t count, size_t decoded_count);
/// Decodes gzip in pieces, into one buffer of a piece.
size_t direct_inflate_pieces(const unsigned char *input, size_t count, size_t piece);
/// Makes gzip at once, into a new buffer that is large enough.
size_t direct_deflate(const unsigned char *input, size_t count, int level);
/// Makes gzip in pieces, into one buffer of a piece.
size_t direct_deflate_pieces(const unsigned char *input, size_t count, size_t piece, int level);
/// Makes gzip that is kept: at most room bytes.
size_t direct_gzip(const unsigned char *input, size_t count, int level, unsigned char *output, size_t room);
/// A raw block that can be repeated: so many zeros, flushed.
size_t direct_block_of_zeros(size_t zeros, unsigned char *output, size_t room);
