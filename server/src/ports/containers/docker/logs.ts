/**
 * Decodes both output streams of a container in order. The engine sends frames: an eight-byte header (stream,
 * three zeros, big-endian length) and the payload. A truncated last frame is kept; invalid UTF-8 becomes
 * replacement characters.
 */
export function readLogFrames(frames: Buffer): string {
  const payloads: Buffer[] = []
  let at = 0
  while (at + 8 <= frames.length) {
    const length = frames.readUInt32BE(at + 4)
    payloads.push(frames.subarray(at + 8, at + 8 + length))
    at += 8 + length
  }
  return Buffer.concat(payloads).toString('utf8')
}
