import { createHash, randomBytes } from 'node:crypto'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { createFrameReader, encodeFrame, opcodes } from './frames.ts'

/**
 * A client for one WebSocket (RFC 6455) over `ws:` or `wss:`. Node's own client costs 17 MB of memory and 30
 * ms at startup, and does not report why a server refused.
 */
export type WebSocketClient = {
  /** Returns false when the socket no longer accepts messages. */
  send(text: string): boolean
  /** Bytes buffered and not yet accepted by the system. */
  buffered(): number
  /** Sends a ping. Returns the number of pings since anything was received. */
  ping(): number
  /** Closes the connection; `onClose` follows. */
  close(code?: number): void
  /** Drops the connection without a close frame, because nobody would receive it; `onClose` follows. */
  drop(reason: string): void
}

export type WebSocketHandlers = {
  onOpen(): void
  onMessage(text: string): void
  /** Called once, whatever the cause. `httpStatus` is set when the server answered without upgrading. */
  onClose(end: { code: number; reason: string; httpStatus: number | null }): void
}

export type DialOptions = {
  url: string
  /** The resolved address of the URL's host. */
  host?: string
  headers: Record<string, string>
  /** Time limit from connecting to the finished upgrade. */
  handshakeMs: number
  maxMessageBytes: number
}

const acceptSalt = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const abnormal = 1006

export function dial(options: DialOptions, handlers: WebSocketHandlers): WebSocketClient {
  const url = new URL(options.url)
  const key = randomBytes(16).toString('base64')
  let socket: Socket | null = null
  let head: Buffer | null = Buffer.alloc(0)
  let isClosed = false
  let closing: { code: number; reason: string } | null = null
  let pings = 0

  const handshake = setTimeout(() => end(abnormal, 'no answer to the upgrade'), options.handshakeMs)
  const frames = createFrameReader({
    maxMessageBytes: options.maxMessageBytes,
    onText: handlers.onMessage,
    onPing: (payload) => write(encodeFrame(opcodes.pong, payload)),
    onClose(code, reason) {
      closing ??= { code, reason }
      write(encodeFrame(opcodes.close, closePayload(code === 1005 ? 1000 : code)))
      end(code, reason)
    },
    onFault: (code, reason) => close(code, reason),
  })

  void open()

  async function open() {
    const isSecure = url.protocol === 'wss:'
    const port = Number(url.port) || (isSecure ? 443 : 80)
    const name = url.hostname.replace(/^\[|\]$/g, '')
    const host = options.host ?? name
    try {
      // TLS is loaded only when used: most agents connect over the engine's own network.
      socket = isSecure
        ? (await import('node:tls')).connect({ host, port, ...(isIP(name) ? {} : { servername: name }) })
        : connectTcp({ host, port })
    } catch (error) {
      return end(abnormal, error instanceof Error ? error.message : 'cannot dial')
    }
    if (isClosed) return socket.destroy()
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 15_000)
    socket.once(isSecure ? 'secureConnect' : 'connect', () => socket?.write(upgradeRequest()))
    socket.on('data', receive)
    socket.on('error', (error) => end(abnormal, error.message))
    socket.on('close', () => end(abnormal, 'the connection broke'))
  }

  function upgradeRequest(): string {
    const lines = [
      `GET ${url.pathname}${url.search} HTTP/1.1`,
      `Host: ${url.host}`,
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Key: ${key}`,
      'Sec-WebSocket-Version: 13',
      ...Object.entries(options.headers).map(([name, value]) => `${name}: ${value}`),
    ]
    return `${lines.join('\r\n')}\r\n\r\n`
  }

  function receive(chunk: Buffer) {
    pings = 0
    if (!head) return frames.push(chunk)
    head = Buffer.concat([head, chunk])
    const border = head.indexOf('\r\n\r\n')
    if (border === -1) {
      if (head.length > 16 * 1024) end(abnormal, 'the answer to the upgrade is too long')
      return
    }
    const text = head.toString('latin1', 0, border)
    const rest = head.subarray(border + 4)
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0)
    if (status !== 101) return end(abnormal, `the upgrade was answered with ${status}`, status)
    const accepted = /^sec-websocket-accept:\s*(\S+)/im.exec(text)?.[1]
    const expected = createHash('sha1').update(`${key}${acceptSalt}`).digest('base64')
    if (accepted !== expected) return end(abnormal, 'the upgrade was answered with a wrong key')
    head = null
    clearTimeout(handshake)
    handlers.onOpen()
    if (rest.length > 0) frames.push(rest)
  }

  function write(frame: Buffer): boolean {
    if (isClosed || head || !socket?.writable) return false
    socket.write(frame)
    return true
  }

  function close(code = 1000, reason = '') {
    closing ??= { code, reason }
    write(encodeFrame(opcodes.close, closePayload(code)))
    end(code, reason)
  }

  function end(code: number, reason: string, httpStatus: number | null = null) {
    if (isClosed) return
    isClosed = true
    clearTimeout(handshake)
    // Buffered writes are still sent; nothing more is read.
    socket?.destroySoon()
    handlers.onClose({ ...(closing ?? { code, reason }), httpStatus })
  }

  return {
    send: (text) => write(encodeFrame(opcodes.text, Buffer.from(text, 'utf8'))),
    buffered: () => socket?.writableLength ?? 0,
    ping() {
      pings += 1
      write(encodeFrame(opcodes.ping, Buffer.alloc(0)))
      return pings
    },
    close: (code) => close(code),
    drop(reason) {
      socket?.destroy()
      end(abnormal, reason)
    },
  }
}

function closePayload(code: number): Buffer {
  const payload = Buffer.alloc(2)
  payload.writeUInt16BE(code)
  return payload
}
