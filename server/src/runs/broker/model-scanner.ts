/**
 * Finds the models that a JSON object names at its top level, and whether it asks for a response in the background,
 * while its bytes pass through. Buffers only short texts, so a 64 MiB request costs no memory. Long strings are
 * skipped with a native search for their end.
 */
export type ModelScanner = {
  /** What ends in this chunk; a text cut by its end is reported with the next one. */
  feed(chunk: Buffer): { models: string[]; isBackground: boolean }
}

const quote = 0x22
const backslash = 0x5c
/** Longer texts are neither the key nor a model name. */
const maxTextBytes = 400

export function createModelScanner(): ModelScanner {
  let depth = 0
  let isInString = false
  let isEscaped = false
  /** Bytes of the current string while it may matter; null otherwise. */
  let read: number[] | null = null
  let isTooLong = false
  let isKeyNext = false
  let isModelNext = false
  /** Set between the key `background` and its value. */
  let isBackgroundNext = false

  /** Reads from inside a string to just after its end; returns the next position. */
  function readString(chunk: Buffer, start: number): number {
    let at = start
    while (at < chunk.length) {
      if (read === null && !isEscaped) {
        const end = nextMark(chunk, at)
        if (end < 0) return chunk.length
        at = end
      }
      const byte = chunk[at] ?? 0
      at += 1
      if (isEscaped) isEscaped = false
      else if (byte === backslash) isEscaped = true
      else if (byte === quote) {
        isInString = false
        return at
      }
      if (read) {
        read.push(byte)
        if (read.length > maxTextBytes) {
          isTooLong = true
          read = null
        }
      }
    }
    return at
  }

  return {
    feed(chunk) {
      const models: string[] = []
      let isBackground = false
      let at = 0
      while (at < chunk.length) {
        if (isInString) {
          at = readString(chunk, at)
          if (isInString) break
          const text = isTooLong ? '' : textOf(read)
          if (isModelNext) models.push(isTooLong ? '(a name of more than 400 characters)' : text)
          isModelNext = isKeyNext && text === 'model'
          isBackgroundNext = isKeyNext && text === 'background'
          read = null
          continue
        }
        const byte = chunk[at] ?? 0
        at += 1
        switch (byte) {
          case quote:
            isInString = true
            isTooLong = false
            read = depth === 1 && (isKeyNext || isModelNext) ? [] : null
            break
          case 0x7b: // {
          case 0x5b: // [
            depth += 1
            isKeyNext = depth === 1 && byte === 0x7b
            isModelNext = false
            break
          case 0x7d: // }
          case 0x5d: // ]
            depth -= 1
            break
          case 0x2c: // ,
            isKeyNext = depth === 1
            isModelNext = false
            isBackgroundNext = false
            break
          case 0x3a: // :
            isKeyNext = false
            break
          case 0x74: // t of true
            isBackground ||= isBackgroundNext
            break
        }
      }
      return { models, isBackground }
    },
  }
}

/** Position of the next byte that ends the string or starts an escape; -1 for none. */
function nextMark(chunk: Buffer, from: number): number {
  const end = chunk.indexOf(quote, from)
  const within = chunk.subarray(from, end < 0 ? chunk.length : end).indexOf(backslash)
  return within < 0 ? end : from + within
}

function textOf(bytes: number[] | null): string {
  if (!bytes) return ''
  const raw = Buffer.from(bytes).toString('utf8')
  try {
    return String(JSON.parse(`"${raw}"`))
  } catch {
    return raw
  }
}
