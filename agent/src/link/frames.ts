import { randomBytes } from 'node:crypto'

/** Client frames of RFC 6455: own frames are masked, the server's are not. */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export function encodeFrame(opcode: number, payload: Buffer): Buffer {
  const extra = payload.length < 126 ? 0 : payload.length < 65_536 ? 2 : 8
  const frame = Buffer.allocUnsafe(6 + extra + payload.length)
  frame[0] = 0x80 | opcode
  frame[1] = 0x80 | (extra === 0 ? payload.length : extra === 2 ? 126 : 127)
  if (extra === 2) frame.writeUInt16BE(payload.length, 2)
  if (extra === 8) frame.writeBigUInt64BE(BigInt(payload.length), 2)
  const start = 6 + extra
  const mask = randomBytes(4)
  mask.copy(frame, start - 4)
  masked(payload, mask).copy(frame, start)
  return frame
}

/** Masks four bytes per step: a byte loop would block the program during a large message. */
function masked(payload: Buffer, mask: Buffer): Buffer {
  const words = new Int32Array(Math.ceil(payload.length / 4))
  const bytes = Buffer.from(words.buffer, 0, payload.length)
  payload.copy(bytes)
  // In the machine's byte order, like the words of the payload.
  const word = new Int32Array(Uint8Array.from(mask).buffer)[0] ?? 0
  for (let index = 0; index < words.length; index += 1) words[index] = (words[index] ?? 0) ^ word
  return bytes
}

export type FrameHandlers = {
  maxMessageBytes: number
  onText(text: string): void
  onPing(payload: Buffer): void
  /** Code 1005 when the server gave none. */
  onClose(code: number, reason: string): void
  /** The server violated the protocol or a size limit; `code` is sent in the close frame. */
  onFault(code: number, reason: string): void
}

export type FrameReader = { push(chunk: Buffer): void }

export function createFrameReader(handlers: FrameHandlers): FrameReader {
  let waiting: Buffer[] = []
  let size = 0
  /** Bytes needed for the next frame, as far as known. Avoids joining a large message once per packet. */
  let needed = 2
  let fragments: Buffer[] = []
  let fragmentBytes = 0
  let isClosed = false

  function fault(code: number, reason: string): null {
    isClosed = true
    handlers.onFault(code, reason)
    return null
  }

  /** Returns one complete frame, or null until enough bytes have arrived. */
  function readFrame(): { opcode: number; isFinal: boolean; payload: Buffer } | null {
    if (size < needed) return null
    const bytes = waiting.length === 1 && waiting[0] ? waiting[0] : Buffer.concat(waiting)
    waiting = [bytes]
    const first = bytes[0] ?? 0
    const second = bytes[1] ?? 0
    if ((first & 0x70) !== 0 || (second & 0x80) !== 0) return fault(1002, 'unexpected frame')
    const short = second & 0x7f
    const headBytes = short < 126 ? 2 : short === 126 ? 4 : 10
    needed = headBytes
    if (size < needed) return null
    const length =
      short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
    if (length + fragmentBytes > handlers.maxMessageBytes) return fault(1009, 'message too long')
    const end = headBytes + length
    needed = end
    if (size < needed) return null
    needed = 2
    const rest = bytes.subarray(end)
    waiting = rest.length > 0 ? [rest] : []
    size = rest.length
    return { opcode: first & 0x0f, isFinal: (first & 0x80) !== 0, payload: bytes.subarray(headBytes, end) }
  }

  function handle(opcode: number, isFinal: boolean, payload: Buffer) {
    switch (opcode) {
      case opcodes.ping:
        return handlers.onPing(payload)
      case opcodes.pong:
        return
      case opcodes.close: {
        isClosed = true
        const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005
        return handlers.onClose(code, payload.toString('utf8', 2))
      }
      case opcodes.text:
      case opcodes.continuation: {
        fragments.push(payload)
        fragmentBytes += payload.length
        if (!isFinal) return
        const text = (fragments.length === 1 ? payload : Buffer.concat(fragments)).toString('utf8')
        fragments = []
        fragmentBytes = 0
        return handlers.onText(text)
      }
      default:
        fault(1003, 'only text is understood')
    }
  }

  return {
    push(chunk) {
      if (isClosed) return
      waiting.push(chunk)
      size += chunk.length
      for (let frame = readFrame(); frame; frame = readFrame()) {
        handle(frame.opcode, frame.isFinal, frame.payload)
        if (isClosed) return
      }
    },
  }
}
