import { hasMoreValues } from '@roost/contracts/kit/json-values'
import type { AgentCalls, FrameId, LinkError } from '@roost/contracts/link/messages'
import {
  agentCallSchemas,
  FrameId as FrameIdSchema,
  LinkErrorSchema,
  PartialSignal,
  platformAnswerSchemas,
} from '@roost/contracts/link/schemas'
import type { RawData, WebSocket } from 'ws'
import { type Clock, waitEnded } from '../../kit/clock.ts'
import type { Log } from '../log.ts'
import {
  LinkDown,
  type LinkedAgent,
  LinkFault,
  type LinkHandlers,
  LinkTimeout,
  type PlatformCallName,
} from './port.ts'

/** One link: the frames of one socket in both directions. */
export type Connection = {
  readonly agent: LinkedAgent
  /** True after the hello was answered. */
  isGreeted(): boolean
  /** The type system has checked `request`; the answer is validated here. */
  call(t: PlatformCallName, request: object, timeoutMs: number, signal?: AbortSignal): Promise<unknown>
  /** Sends a message without id and answer. */
  signal(message: object): void
  /** Sends a protocol ping; terminates a link that missed two. */
  ping(): void
  close(code: number, reason: string): void
}

export type ConnectionDeps = {
  socket: WebSocket
  agent: LinkedAgent
  handlers: LinkHandlers
  clock: Clock
  log: Log
  onGreeted(): void
  onClosed(): void
}

/** Unanswered requests of one agent; from this number on the socket is paused. */
const maxInFlight = 256
/** Size of these requests; above it the socket is paused. */
const maxBytesInFlight = 16 * 1024 * 1024
/** Values in one message. Messages of the agent program cannot have as many, because of their limits of bytes. */
const maxValues = 1_000_000
/** Above this send buffer, the socket is paused and new calls are refused. */
const maxBuffered = 16 * 1024 * 1024

/** Serves one socket until it closes. Every message is answered or ignored and none can throw. */
export function createConnection(deps: ConnectionDeps): Connection {
  const { socket, agent, handlers, clock, log } = deps
  const pending = new Map<string, Pending>()
  const tails = new Map<string, Promise<void>>()
  /**
   * Results that wait for earlier messages of their run. A claim received after a result is processed after
   * it.
   */
  const results = new Set<Promise<void>>()
  let nextId = 1
  let inFlight = 0
  let bytesInFlight = 0
  let unansweredPings = 0
  let helloHandled: Promise<void> | null = null
  let isGreeted = false
  let isClosed = false

  socket.on('message', (data) => {
    try {
      receive(data)
    } catch (error) {
      // No message of a container may crash this process.
      log.error({ agent: agent.agentName, err: error }, 'message of an agent is unreadable')
      refuse(null, 'The message is unreadable.')
    }
  })
  socket.on('pong', () => {
    unansweredPings = 0
  })
  socket.on('error', (error) => log.debug({ agent: agent.agentName, err: error }, 'link error'))
  socket.on('close', () => {
    isClosed = true
    for (const { fail } of pending.values()) fail(new LinkDown('The link broke before the agent answered.'))
    pending.clear()
    deps.onClosed()
  })

  function receive(data: RawData) {
    unansweredPings = 0
    const bytes = bytesOf(data)
    if (hasMoreValues(bytes, maxValues)) return refuse(null, `The message has more than ${maxValues} values.`)
    let frame: unknown
    try {
      frame = JSON.parse(bytes.toString('utf8'))
    } catch {
      return refuse(null, 'The message is not JSON.')
    }
    if (typeof frame !== 'object' || frame === null) return refuse(null, 'The message is not an object.')
    if ('re' in frame) return settle(frame)
    const id = 'id' in frame ? FrameIdSchema.safeParse(frame.id) : null
    if (id && !id.success) return refuse(null, 'The id is neither a string nor an integer.')
    const t = 't' in frame && typeof frame.t === 'string' ? frame.t : ''
    if (!id)
      return t === 'partial' ? receivePartial(frame, bytes.length) : refuse(null, 'A request needs an id.')
    if (!isAgentCall(t))
      return refuse(id.data, `The message type "${t.slice(0, 40)}" does not exist.`, 'unknown_message')
    receiveRequest(id.data, t, frame, bytes.length)
  }

  /** Processes an answer to an own request; drops it when nobody waits for it. */
  function settle(frame: object) {
    const re = 're' in frame ? String(frame.re) : ''
    const request = pending.get(re)
    if (!request) return
    pending.delete(re)
    if ('error' in frame && frame.error !== undefined) {
      const error = LinkErrorSchema.safeParse(frame.error)
      return request.fail(new LinkFault(error.success ? error.data : unreadableAnswer))
    }
    try {
      const answer = platformAnswerSchemas[request.t].safeParse(frame)
      if (answer.success) return request.done(answer.data)
    } catch {
      // A tree nested deeper than the stack is an invalid answer too.
    }
    request.fail(new LinkFault(unreadableAnswer))
  }

  function receivePartial(frame: object, bytes: number) {
    const partial = PartialSignal.safeParse(frame)
    if (!partial.success || !isGreeted) return
    begin(bytes)
    // Queued behind the run's lines that are being stored, so that readers see both in order.
    void inOrder(partial.data.execution_id, () => handlers.partial(agent, partial.data)).then(() =>
      finish(bytes),
    )
  }

  function receiveRequest<T extends keyof AgentCalls>(id: FrameId, t: T, frame: object, bytes: number) {
    const message = agentCallSchemas[t].safeParse(frame)
    if (!message.success) {
      const issue = message.error.issues[0]
      return refuse(
        id,
        issue ? `${issue.path.join('.')}: ${issue.message}`.slice(0, 500) : 'The message is not valid.',
      )
    }
    if (t !== 'hello' && t !== 'beat' && !helloHandled)
      return refuse(id, 'The first message must be a hello.')
    if (t === 'hello' && helloHandled) return refuse(id, 'A link has one hello.')
    begin(bytes)
    const act = async () => {
      try {
        const answer = await handle(t, message.data)
        // Waits, so that an agent that does not read its answers gets no more of them.
        await send({ re: id, ...answer })
        if (t === 'hello') greet()
      } catch (error) {
        await answerFault(id, t, error)
      } finally {
        finish(bytes)
      }
    }
    if (t === 'hello') {
      helloHandled = act()
      return void helloHandled.then(() => {
        if (!isGreeted) helloHandled = null
      })
    }
    const run = 'execution_id' in message.data ? message.data.execution_id : null
    const started = Promise.withResolvers<void>()
    const ready = async () => {
      // Messages right after the hello wait until it was processed.
      if (helloHandled) await helloHandled
      if (t === 'claim') await Promise.all(results)
      const handled = act()
      results.delete(started.promise)
      started.resolve()
      await handled
    }
    if (t === 'result') results.add(started.promise)
    // One at a time of each type that belongs to no order of a run, because their answers are large or slow.
    void inOrder(run === null || t === 'attachment' ? t : run, ready)
  }

  function begin(bytes: number): void {
    inFlight += 1
    bytesInFlight += bytes
    throttle()
  }

  function finish(bytes: number): void {
    inFlight -= 1
    bytesInFlight -= bytes
    throttle()
  }

  function handle<T extends keyof AgentCalls>(
    t: T,
    message: AgentCalls[T]['request'],
  ): Promise<AgentCalls[T]['answer']> {
    // The table of handlers has one type per name, which the compiler cannot derive from `t`.
    const handler = handlers[t] as (
      agent: LinkedAgent,
      message: AgentCalls[T]['request'],
    ) => Promise<AgentCalls[T]['answer']>
    return handler(agent, message)
  }

  /** Called after the answer was sent, so that later requests follow it. */
  function greet(): void {
    if (isGreeted || isClosed) return
    isGreeted = true
    deps.onGreeted()
  }

  /** Processes messages of one queue in order; queues do not wait for each other. Each run has its own. */
  function inOrder(queue: string, work: () => Promise<void>): Promise<void> {
    const before = tails.get(queue) ?? Promise.resolve()
    const tail = before.then(work).catch((error: unknown) => {
      log.error({ agent: agent.agentName, queue, err: error }, 'message of an agent failed')
    })
    tails.set(queue, tail)
    void tail.then(() => {
      if (tails.get(queue) === tail) tails.delete(queue)
    })
    return tail
  }

  function answerFault(id: FrameId, t: string, error: unknown): Promise<void> {
    if (error instanceof LinkFault)
      return send({ re: id, error: { code: error.code, message: error.message } })
    log.error({ agent: agent.agentName, t, err: error }, 'message of an agent failed')
    return send({
      re: id,
      error: { code: 'io_error', message: 'The platform failed to process the request.' },
    })
  }

  function refuse(id: FrameId | null, message: string, code: LinkError['code'] = 'invalid_message') {
    log.debug({ agent: agent.agentName, reason: message }, 'message of an agent refused')
    void send({ re: id, error: { code, message } })
  }

  /** Resolves when the frame was handed to the network, or cannot be sent. */
  function send(frame: object): Promise<void> {
    if (socket.readyState !== socket.OPEN) return Promise.resolve()
    return new Promise((resolve) => {
      socket.send(JSON.stringify(frame), () => {
        throttle()
        resolve()
      })
      throttle()
    })
  }

  /** Pauses the socket while too many requests are running or too much is buffered. */
  function throttle(): void {
    if (isClosed) return
    const busy =
      inFlight >= maxInFlight || bytesInFlight > maxBytesInFlight || socket.bufferedAmount > maxBuffered
    if (busy && !socket.isPaused) socket.pause()
    else if (!busy && socket.isPaused) socket.resume()
  }

  return {
    agent,
    isGreeted: () => isGreeted && !isClosed,
    call(t, request, timeoutMs, signal) {
      if (isClosed || socket.readyState !== socket.OPEN) return Promise.reject(new LinkDown())
      if (socket.bufferedAmount > maxBuffered) return Promise.reject(new LinkDown('The link is congested.'))
      signal?.throwIfAborted()
      const id = nextId++
      return new Promise((resolve, reject) => {
        const ended = new AbortController()
        const end = (act: () => void) => {
          pending.delete(String(id))
          signal?.removeEventListener('abort', onAbort)
          ended.abort(waitEnded)
          act()
        }
        const fail = (error: unknown) => end(() => reject(error))
        const onAbort = () => fail(signal?.reason)
        signal?.addEventListener('abort', onAbort, { once: true })
        pending.set(String(id), { t, done: (answer) => end(() => resolve(answer)), fail })
        void clock.wait(timeoutMs, ended.signal).then(() => {
          if (!ended.signal.aborted) fail(new LinkTimeout())
        })
        void send({ id, ...request, t })
      })
    },
    signal: (message) => void send(message),
    ping() {
      if (unansweredPings >= 2) return socket.terminate()
      unansweredPings += 1
      if (socket.readyState === socket.OPEN) socket.ping()
    },
    close(code, reason) {
      socket.close(code, reason)
    },
  }
}

type Pending = { t: PlatformCallName; done(answer: unknown): void; fail(error: unknown): void }

const unreadableAnswer: LinkError = {
  code: 'invalid_message',
  message: "The agent's answer has an invalid format.",
}

function isAgentCall(t: string): t is keyof AgentCalls {
  return Object.hasOwn(agentCallSchemas, t)
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}
