#if Redis
/// Changes and reads that Redis makes in one step, in Lua.
///
/// The first keys of all are those of ``RedisKeys/keys(for:)``; the first argument is ``RedisKeys/pieces``.
enum RedisScript {
    /// The bytes of a piece of a body.
    static let pieceByteCount = 256 << 10
    /// The most variants of a key.
    static let maximumVariantCount = 16
    /// How long, in seconds, readers can read a body that has been removed or has expired.
    static let readingTime = 60
    /// How long, in seconds, a generation lives under which no entry is stored yet, which is longer than a response
    /// takes.
    static let generationTime = 3_600

    /// Returns the generations, and makes those that are missing.
    ///
    /// Arguments: new generation.
    static let makeGenerations = functions + "return current(ARGV[2])"

    /// Returns the token of an entry, the number of its bytes, and the bytes themselves if they are one piece.
    ///
    /// Arguments: id. Returns null if the entry is gone or a piece is missing.
    static let open =
        functions + """
            local value = redis.call('HGET', KEYS[1], ARGV[2])
            if not value or generation(value) ~= current() then return false end
            local bytes = byteCount(value)
            for i = 0, pieceCount(value) - 1 do
                local expected = math.min(\(pieceByteCount), bytes - i * \(pieceByteCount))
                if redis.call('STRLEN', piece(value, i)) ~= expected then return false end
            end
            if bytes == 0 then return {token(value), bytes, ''} end
            if redis.call('TTL', piece(value, 0)) < \(readingTime) then return false end
            if bytes > \(pieceByteCount) then return {token(value), bytes} end
            return {token(value), bytes, redis.call('GET', piece(value, 0))}
            """

    /// Makes an entry visible in place of those with the same variant.
    ///
    /// Keys: secret. Arguments: id, value, time to live, new generation, last piece, and the generations at the lookup,
    /// without which missing ones are made. Returns 0 if a piece is missing, and 2 if a generation is missing or new.
    static let publish =
        functions + changes + """
            local isKnown = ARGV[7] ~= ''
            local now = current(not isKnown and ARGV[5])
            if isKnown and now ~= ARGV[7] then return 2 end
            local old, value = redis.call('HGET', KEYS[1], ARGV[2]), now .. ARGV[3]
            if pieceCount(value) > 0 then
                redis.call('SET', piece(value, pieceCount(value) - 1), ARGV[6], 'EX', \(readingTime))
            end
            if not keep(value) then expire(value, 1) return 0 end
            if old then expire(old, \(readingTime)) end
            put(value)
            return 1
            """

    /// Replaces an entry, but not its token and the number of its bytes.
    ///
    /// Keys: secret. Arguments: id, value, time to live.
    static let update =
        functions + changes + """
            local old = redis.call('HGET', KEYS[1], ARGV[2])
            if not old or generation(old) ~= current() then return 0 end
            local value = string.sub(old, 1, \(RedisEntry.bodyEnd)) .. string.sub(ARGV[3], \(RedisEntry.bodyEnd - 23))
            if not keep(value) then remove(ARGV[2], value) return 0 end
            put(value)
            return 1
            """

    /// Removes an entry.
    ///
    /// Arguments: id.
    static let remove =
        functions + """
            local value = redis.call('HGET', KEYS[1], ARGV[2])
            if value then remove(ARGV[2], value) end
            return 1
            """

    /// Deletes a key if it has a value.
    ///
    /// Key: that key, no others. Arguments: the value.
    static let unlock = """
        if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
        return 0
        """

    private static let functions = """
        local function generation(value) return string.sub(value, 1, 24) end
        local function token(value) return string.sub(value, 25, 56) end
        local function byteCount(value) return (struct.unpack('>I8', value, 57)) end
        local function date(value) return (struct.unpack('>i8', value, 65)) end
        local function variant(value) return string.sub(value, 75, 74 + struct.unpack('>I2', value, 73)) end
        local function pieceCount(value) return math.ceil(byteCount(value) / \(pieceByteCount)) end
        local function piece(value, i) return ARGV[1] .. token(value) .. ':' .. i end
        local function expire(value, seconds)
            local found = 0
            for i = 0, pieceCount(value) - 1 do
                found = found + redis.call('EXPIRE', piece(value, i), seconds)
            end
            return found == pieceCount(value)
        end
        local function remove(id, value)
            redis.call('HDEL', KEYS[1], id)
            expire(value, \(readingTime))
        end
        local function current(new)
            local all = ''
            for i = 2, 4 do
                local one = redis.call('GET', KEYS[i])
                if new and not one then
                    one = new
                    redis.call('SET', KEYS[i], one, 'EX', \(generationTime))
                end
                all = all .. (one or '')
            end
            return all
        end

        """

    /// Functions of the scripts that make an entry visible.
    ///
    /// What an entry depends on lives longer than the entry: pieces by the time for reading, the rest by twice that.
    private static let changes = """
        local function keep(value)
            for i = 2, 5 do redis.call('EXPIRE', KEYS[i], ARGV[4] + \(2 * readingTime)) end
            return expire(value, ARGV[4] + \(readingTime))
        end
        local function put(value)
            redis.call('HSET', KEYS[1], ARGV[2], value)
            redis.call('EXPIRE', KEYS[1], ARGV[4])
            local all, count, earliest = redis.call('HGETALL', KEYS[1]), 0, nil
            for i = 1, #all, 2 do
                local id, other = all[i], all[i + 1]
                local isReplaced = id ~= ARGV[2] and variant(other) == variant(value)
                if isReplaced or generation(other) ~= generation(value) then
                    remove(id, other)
                else
                    count = count + 1
                    if not earliest or date(other) < date(all[earliest + 1]) then earliest = i end
                end
            end
            if count > \(maximumVariantCount) then remove(all[earliest], all[earliest + 1]) end
        end

        """
}
#endif
