/**
 * Both output streams of a container in the order they were written. The engine sends frames of an
 * eight-byte header (stream, three zeros, big-endian length) and the payload; a cut last frame is kept
 * as far as it came. Bytes that are no UTF-8 become replacement characters.
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
