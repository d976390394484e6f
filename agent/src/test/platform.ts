import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AgentSettings, Beat, Hello, PlatformCalls } from '@roost/contracts/link/messages'
import type { Queue, QueueUpdate } from '@roost/contracts/link/queue'
import type { Partial, Run, RunResult } from '@roost/contracts/link/runs'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { type WebSocket, WebSocketServer } from 'ws'

/** The platform's end of the link in memory: assigns runs, stores results and breaks on demand. */
export type TestPlatform = {
  url: string
  key: string
  settings: AgentSettings
  hellos: Hello[]
  beats: Beat[]
  partials: Partial[]
  /** Reports of the agent's queue file, and the updates to answer with. */
  queues: Queue[]
  queueUpdates: QueueUpdate[]
  runs: Map<string, SeenRun>
  /** Archive of the agent's template; null for none. */
  template: { version: string; archive: Buffer } | null
  /** Bytes of a chunk of it. */
  templateChunkBytes: number
  /** The message history of each run. */
  enqueue(run: Run): void
  call<T extends keyof PlatformCalls>(
    t: T,
    request: Omit<PlatformCalls[T]['request'], 't'>,
  ): Promise<PlatformCalls[T]['answer']>
  /** Drops every connection without a close frame. */
  breakLink(): void
  /** Refuses connections until `listen` is called. */
  stopListening(): Promise<void>
  listen(): Promise<void>
  /** Checks after every event until `look` returns a value. */
  until<T>(look: () => T | null | undefined | false, what?: string): Promise<T>
  result(executionId: string): Promise<RunResult>
  /** Called before each message is processed. `'lose'` drops the answer after processing. */
  intercept: (message: { t: string }) => 'lose' | undefined
  close(): Promise<void>
}

export type SeenRun = {
  run: Run
  token: number
  started: number[]
  lines: TranscriptLine[]
  /** Number of deliveries of each line, by line number. */
  deliveries: Map<number, number>
  result: RunResult | null
  results: number
}

const timeoutMs = 120_000

export async function startTestPlatform(
  options: { key?: string; port?: number } = {},
): Promise<TestPlatform> {
  const key = options.key ?? `svc_mcp_${randomUUID()}`
  const queue: Run[] = []
  const watchers = new Set<() => void>()
  const waiting = new Map<string, { done(answer: never): void; fail(fault: Error): void }>()
  let socket: WebSocket | null = null
  let server: Server | null = null
  let port = options.port ?? 0
  let nextId = 1

  const platform: TestPlatform = {
    url: '',
    key,
    settings: {
      agent_name: 'tester',
      read_only: { enabled: false, blocked_patterns: [], allowed_patterns: [] },
      parallel_limit: 3,
      model: null,
      way_out: null,
      chat_idle_seconds: 600,
      stall_seconds: 900,
      disk_seconds: 60,
    },
    hellos: [],
    beats: [],
    partials: [],
    queues: [],
    queueUpdates: [],
    runs: new Map(),
    template: null,
    templateChunkBytes: 256 * 1024,
    intercept: () => undefined,
    enqueue(run) {
      queue.push(run)
      platform.runs.set(run.execution_id, {
        run,
        token: run.claim_token,
        started: [],
        lines: [],
        deliveries: new Map(),
        result: null,
        results: 0,
      })
      socket?.send(JSON.stringify({ t: 'wake' }))
    },
    call(t, request) {
      const id = `p${nextId++}`
      return new Promise((done, fail) => {
        waiting.set(id, { done, fail })
        if (!socket) return fail(new Error('no link'))
        socket.send(JSON.stringify({ id, t, ...request }))
      })
    },
    breakLink: () => socket?.terminate(),
    async stopListening() {
      const stopped = server
      server = null
      socket?.terminate()
      await new Promise((done) => (stopped ? stopped.close(done) : done(null)))
    },
    listen,
    until(look, what = 'something') {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          watchers.delete(check)
          reject(new Error(`timed out waiting for ${what}`))
        }, timeoutMs)
        function check() {
          const found = look()
          if (found === null || found === undefined || found === false) return
          clearTimeout(timer)
          watchers.delete(check)
          resolve(found)
        }
        watchers.add(check)
        check()
      })
    },
    result: (id) => platform.until(() => platform.runs.get(id)?.result, `the result of ${id}`),
    async close() {
      await platform.stopListening()
    },
  }

  async function listen() {
    server = createServer()
    const sockets = new WebSocketServer({ noServer: true, maxPayload: 8 * 1024 * 1024 })
    server.on('upgrade', (request, stream, head) => {
      if (request.headers.authorization !== `Bearer ${key}`) {
        stream.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n')
        return
      }
      sockets.handleUpgrade(request, stream, head, (accepted) => serve(accepted))
    })
    await new Promise<void>((done) => server?.listen(port, '127.0.0.1', done))
    port = (server.address() as AddressInfo).port
    platform.url = `ws://127.0.0.1:${port}/link`
  }

  function serve(accepted: WebSocket) {
    socket = accepted
    accepted.on('message', (data) => {
      const message = JSON.parse(String(data))
      if ('re' in message) {
        const call = waiting.get(message.re)
        waiting.delete(message.re)
        if (message.error) call?.fail(Object.assign(new Error(message.error.message), message.error))
        else call?.done(message as never)
      } else {
        const isLost = platform.intercept(message) === 'lose'
        const answer = handle(message)
        if (answer && !isLost) accepted.send(JSON.stringify({ re: message.id, ...answer }))
      }
      for (const check of [...watchers]) check()
    })
    accepted.on('close', () => {
      if (socket === accepted) socket = null
      for (const check of [...watchers]) check()
    })
  }

  function handle(message: { t: string } & Record<string, never>): object | null {
    switch (message.t) {
      case 'hello': {
        const hello = message as unknown as Hello
        platform.hellos.push(hello)
        const known = hello.held.filter(({ execution_id, claim_token }) => {
          const stored = platform.runs.get(execution_id)
          return stored && stored.token === claim_token && !stored.result
        })
        const acked = Object.fromEntries(
          known.map(({ execution_id }) => [execution_id, platform.runs.get(execution_id)?.lines.length ?? 0]),
        )
        const drop = hello.held
          .filter((held) => !known.includes(held))
          .map(({ execution_id }) => execution_id)
        return { settings: platform.settings, acked, drop, lease_seconds: 60 }
      }
      case 'claim':
        return { runs: queue.splice(0, (message as unknown as { free: number }).free) }
      case 'beat':
        platform.beats.push(message as unknown as Beat)
        return { ok: true }
      case 'queue':
        platform.queues.push(message as unknown as Queue)
        return { updates: platform.queueUpdates }
      case 'template': {
        const { version, offset } = message as unknown as { version: string | null; offset: number }
        if (platform.template === null) return { version: null, size: 0, data_base64: '' }
        const { archive } = platform.template
        const from = version === platform.template.version ? offset : 0
        const data_base64 = archive.subarray(from, from + platform.templateChunkBytes).toString('base64')
        return { version: platform.template.version, size: archive.length, data_base64 }
      }
      case 'partial':
        platform.partials.push(message as unknown as Partial)
        return null
      default:
        return handleRun(message as unknown as RunMessage)
    }
  }

  function handleRun(message: RunMessage): object | null {
    const stored = platform.runs.get(message.execution_id)
    if (!stored || stored.token !== message.claim_token)
      return message.t === 'result' ? { accepted: false, reason: 'stale_claim' } : { stale: true }
    switch (message.t) {
      case 'started':
        stored.started.push(message.pid)
        return { ok: true }
      case 'lines':
        message.lines.forEach((line, index) => {
          const number = message.from + index
          stored.deliveries.set(number, (stored.deliveries.get(number) ?? 0) + 1)
          if (number === stored.lines.length + 1) stored.lines.push(line)
        })
        return { acked: stored.lines.length }
      case 'result':
        stored.results += 1
        if (stored.result) return { accepted: false, reason: 'already_final' }
        if (message.last_line !== stored.lines.length)
          throw new Error(`result before line ${message.last_line}: ${stored.lines.length} came`)
        stored.result = message
        return { accepted: true }
      case 'attachment': {
        const bytes = Buffer.from(attachmentBytes.get(`${message.execution_id}/${message.index}`) ?? '')
        const end = Math.min(bytes.length, message.offset + message.length)
        return { data_base64: bytes.toString('base64', message.offset, end), eof: end >= bytes.length }
      }
    }
  }

  await listen()
  return platform
}

/** Content returned by `attachment`, by `<execution>/<index>`. */
export const attachmentBytes = new Map<string, Buffer>()

type RunMessage = { execution_id: string; claim_token: number } & (
  | { t: 'started'; pid: number }
  | { t: 'lines'; from: number; lines: TranscriptLine[] }
  | RunResult
  | { t: 'attachment'; index: number; offset: number; length: number }
)

/** A run with defaults for fields that a test does not set. */
export function aRun(overrides: globalThis.Partial<Run> = {}): Run {
  return {
    execution_id: randomUUID().slice(0, 22),
    claim_token: 1,
    kind: 'task',
    session_id: null,
    message: 'hello',
    system_prompt: '',
    model: null,
    allowed_tools: null,
    max_turns: null,
    timeout_seconds: 60,
    resume_session_id: null,
    attachments: [],
    broker: { url: 'http://127.0.0.1:9', token: 'token' },
    principal: { id: 'user:u1', access: 'owner', credentials: true },
    key: `svc_mcp_run_${randomUUID()}`,
    ...overrides,
  }
}
