import {
  type AgentCalls,
  answerSeconds,
  beatSeconds,
  closeCodes,
  type HelloAnswer,
  type LinkErrorCode,
  maxMessageBytes,
} from '@roost/contracts/link/messages'
import type { Partial } from '@roost/contracts/link/runs'
import type { Clock } from '../kit/clock.ts'
import { isObject, type Json, objectAt, parseObject, textAt } from '../kit/json.ts'
import { faultText, type Log } from '../kit/log.ts'
import { refusedDelay, retryDelay } from './retry.ts'
import { dial, type WebSocketLine } from './websocket.ts'

/**
 * The agent's one connection to the platform: dialled from here and dialled again whenever it is gone.
 * Nothing is kept for later: what must not be lost is in the spool, and is sent again after the next hello.
 */
export type Link = {
  /** Asks the platform. Rejects with `LinkDown` when the link is or goes away, `LinkFault` on a named error. */
  call<T extends AgentCallName>(
    t: T,
    request: Omit<AgentCalls[T]['request'], 't'>,
    timeoutSeconds?: number,
  ): Promise<AgentCalls[T]['answer']>
  /** Sent if the link is up and not congested, else forgotten. */
  signal(message: Partial): void
  /** The hello was answered. */
  isUp(): boolean
  close(): void
}

export type AgentCallName = keyof AgentCalls

export type LinkDeps = {
  url: string
  key: string
  clock: Clock
  log: Log
  /** Asked anew for each connection. */
  hello(): Omit<AgentCalls['hello']['request'], 't'>
  /** The platform knows us: `answer` says what it wants. */
  onUp(answer: HelloAnswer): void
  /** Answers a request of the platform; throws `LinkFault` for a named error. */
  onCall(t: string, message: Json): Promise<object>
  onSignal(t: string): void
}

/** The link is away; whoever asked tries again after the next hello. */
export class LinkDown extends Error {
  constructor(message = 'The link to the platform is down.') {
    super(message)
    this.name = 'LinkDown'
  }
}

/** A named error, in either direction. */
export class LinkFault extends Error {
  readonly code: LinkErrorCode
  constructor(code: LinkErrorCode, message: string) {
    super(message)
    this.name = 'LinkFault'
    this.code = code
  }
}

type Waiting = { done(answer: Json): void; fail(fault: Error): void }

/** Signals are dropped above this: what is written anyway matters more than pieces of it. */
const congestedBytes = 1024 * 1024
const handshakeMs = 10_000

/** Starts dialling at once. */
export function createLink(deps: LinkDeps): Link {
  const { clock, log } = deps
  let line: WebSocketLine | null = null
  let isUp = false
  let isClosed = false
  let attempt = 0
  let nextId = 1
  let cancelRetry = () => {}
  const waiting = new Map<string, Waiting>()

  connect()

  function connect() {
    let own: WebSocketLine | null = null
    // A handler of an older connection that speaks up late is not heard.
    const isCurrent = () => own === line
    own = dial(
      { url: deps.url, headers: { authorization: `Bearer ${deps.key}` }, handshakeMs, maxMessageBytes },
      {
        onOpen: () => isCurrent() && greet(),
        onMessage: (text) => isCurrent() && receive(text),
        onClose: ({ code, httpStatus, reason }) => {
          if (!isCurrent()) return
          lost()
          const isRefused = code === closeCodes.badScope || code === closeCodes.replaced || httpStatus === 401
          const delay = isRefused ? refusedDelay(clock.random()) : retryDelay(attempt, clock.random())
          if (attempt <= 1 || isRefused) log.warn('link lost', { code, reason, retry_ms: delay })
          if (!isClosed) cancelRetry = clock.after(delay, connect)
        },
      },
    )
    line = own
  }

  function lost() {
    line = null
    isUp = false
    attempt += 1
    for (const { fail } of waiting.values()) fail(new LinkDown())
    waiting.clear()
  }

  function greet() {
    ask('hello', deps.hello(), answerSeconds).then(
      (answer) => {
        isUp = true
        attempt = 0
        log.info('link up')
        deps.onUp(answer)
      },
      (fault: unknown) => {
        // Told so by the platform, or no answer: this connection is of no use.
        if (!(fault instanceof LinkDown)) log.warn('hello refused', { reason: faultText(fault) })
        line?.close()
      },
    )
  }

  function receive(text: string) {
    const message = parseObject(text)
    if (!message) return
    if ('re' in message) return settle(message)
    const t = textAt(message, 't') ?? ''
    if (message.id === undefined) return deps.onSignal(t)
    void answer(t, message)
  }

  function settle(message: Json) {
    const asked = waiting.get(String(message.re))
    if (!asked) return
    waiting.delete(String(message.re))
    if (!isObject(message.error)) return asked.done(message)
    const error = objectAt(message, 'error')
    // The platform's own codes are a subset of the link's; an unknown one is only shown.
    const code = (textAt(error, 'code') ?? 'io_error') as LinkErrorCode
    asked.fail(new LinkFault(code, textAt(error, 'message') ?? 'The platform refused.'))
  }

  async function answer(t: string, message: Json) {
    const asker = line
    try {
      const reply = await deps.onCall(t, message)
      asker?.send(JSON.stringify({ re: message.id, ...reply }))
    } catch (fault) {
      const code: LinkErrorCode = fault instanceof LinkFault ? fault.code : 'io_error'
      if (!(fault instanceof LinkFault)) log.warn('request failed', { t, reason: faultText(fault) })
      asker?.send(JSON.stringify({ re: message.id, error: { code, message: faultText(fault) } }))
    }
  }

  function ask<T extends AgentCallName>(
    t: T,
    request: Omit<AgentCalls[T]['request'], 't'>,
    timeoutSeconds: number,
  ): Promise<AgentCalls[T]['answer']> {
    const current = line
    if (!current) return Promise.reject(new LinkDown())
    const id = nextId++
    return new Promise((resolve, reject) => {
      const cancel = clock.after(timeoutSeconds * 1000, () => {
        // An answer that does not come means that the other end is gone, whatever TCP believes.
        log.warn('no answer', { t })
        current.close()
      })
      waiting.set(String(id), {
        // What crosses the wire is agreed in the contracts; the platform is trusted with its own answers.
        done(reply) {
          cancel()
          resolve(reply as AgentCalls[T]['answer'])
        },
        fail(fault) {
          cancel()
          reject(fault)
        },
      })
      if (!current.send(JSON.stringify({ id, t, ...request }))) current.close()
    })
  }

  return {
    call(t, request, timeoutSeconds = t === 'beat' ? beatSeconds * 3 : answerSeconds) {
      return isUp ? ask(t, request, timeoutSeconds) : Promise.reject(new LinkDown())
    },
    signal(message) {
      if (isUp && line && line.buffered() < congestedBytes) line.send(JSON.stringify(message))
    },
    isUp: () => isUp,
    close() {
      isClosed = true
      cancelRetry()
      const current = line
      lost()
      current?.close()
    },
  }
}
