#include "CZlibDirect.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

size_t direct_inflate(const unsigned char *input, size_t count, size_t decoded_count) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    unsigned char *output = malloc(decoded_count);
    if (!output || inflateInit2(&stream, 31) != Z_OK) return 0;
    stream.next_in = (unsigned char *)input;
    stream.avail_in = (uInt)count;
    stream.next_out = output;
    stream.avail_out = (uInt)decoded_count;
    size_t total = inflate(&stream, Z_FINISH) == Z_STREAM_END ? stream.total_out : 0;
    inflateEnd(&stream);
    free(output);
    return total;
}

size_t direct_inflate_pieces(const unsigned char *input, size_t count, size_t piece) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    unsigned char *output = malloc(piece);
    if (!output || inflateInit2(&stream, 31) != Z_OK) return 0;
    int status = Z_OK;
    for (size_t offset = 0; offset < count; offset += piece) {
        stream.next_in = (unsigned char *)input + offset;
        stream.avail_in = (uInt)(count - offset < piece ? count - offset : piece);
        do {
            stream.next_out = output;
            stream.avail_out = (uInt)piece;
            status = inflate(&stream, Z_NO_FLUSH);
        } while (status == Z_OK && stream.avail_out == 0);
    }
    size_t total = status == Z_STREAM_END ? stream.total_out : 0;
    inflateEnd(&stream);
    free(output);
    return total;
}

size_t direct_deflate(const unsigned char *input, size_t count, int level) {
    size_t room = compressBound(count) + 64;
    unsigned char *output = malloc(room);
    if (!output) return 0;
    size_t total = direct_gzip(input, count, level, output, room);
    free(output);
    return total;
}

size_t direct_deflate_pieces(const unsigned char *input, size_t count, size_t piece, int level) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    unsigned char *output = malloc(piece);
    if (!output || deflateInit2(&stream, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    int status = Z_OK;
    for (size_t offset = 0; offset < count; offset += piece) {
        int is_last = count - offset <= piece;
        stream.next_in = (unsigned char *)input + offset;
        stream.avail_in = (uInt)(is_last ? count - offset : piece);
        do {
            stream.next_out = output;
            stream.avail_out = (uInt)piece;
            status = deflate(&stream, is_last ? Z_FINISH : Z_NO_FLUSH);
        } while (stream.avail_out == 0);
    }
    size_t total = status == Z_STREAM_END ? stream.total_out : 0;
    deflateEnd(&stream);
    free(output);
    return total;
}

size_t direct_gzip(const unsigned char *input, size_t count, int level, unsigned char *output, size_t room) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (deflateInit2(&stream, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    stream.next_in = (unsigned char *)input;
    stream.avail_in = (uInt)count;
    stream.next_out = output;
    stream.avail_out = (uInt)room;
    size_t total = deflate(&stream, Z_FINISH) == Z_STREAM_END ? stream.total_out : 0;
    deflateEnd(&stream);
    return total;
}

size_t direct_block_of_zeros(size_t zeros, unsigned char *output, size_t room) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    unsigned char *input = calloc(zeros, 1);
    if (!input || deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    stream.next_in = input;
    stream.avail_in = (uInt)zeros;
    stream.next_out = output;
    stream.avail_out = (uInt)room;
    size_t total = deflate(&stream, Z_FULL_FLUSH) == Z_OK && stream.avail_out > 0 ? stream.total_out : 0;
    deflateEnd(&stream);
    free(input);
    return total;
}
