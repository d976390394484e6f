const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]
const space = 0x20

/** A native search is faster than a loop from about this many bytes on. */
const nearBytes = 64

/**
 * Returns whether JSON in UTF-8 holds more than `most` values, containers included, without parsing it. Parsing time
 * and memory grow with the number of values, not with the length of strings.
 */
export function hasMoreValues(json: Uint8Array, most: number): boolean {
  let values = 1
  let isAfterOpening = false
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] as number
    // Other white space is below the space, and every other character of JSON above.
    if (byte <= space) continue
    const isClosing = byte === closeBracket || byte === closeBrace
    if (byte === comma || (isAfterOpening && !isClosing)) values += 1
    if (values > most) return true
    isAfterOpening = byte === openBracket || byte === openBrace
    if (byte === quote) at = endOfString(json, at + 1)
  }
  return false
}

/** Returns the position of the quote that ends the string whose text starts at `at`. */
function endOfString(json: Uint8Array, at: number): number {
  for (let from = at; ; from += 1) {
    for (const near = from + nearBytes; from < near; from += 1) {
      if (json[from] === quote) return from
      if (json[from] === backslash) from += 1
    }
    from = json.indexOf(quote, from)
    if (from === -1) return json.length
    if (!isEscaped(json, from)) return from
  }
}

function isEscaped(json: Uint8Array, at: number): boolean {
  let before = at - 1
  while (json[before] === backslash) before -= 1
  return (at - before) % 2 === 0
}
