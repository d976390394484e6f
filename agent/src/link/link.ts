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
import { dial, type WebSocketClient } from './websocket.ts'

/**
 * The agent's single connection to the platform, opened by the agent and reopened after a loss. Requests are
 * not queued: data that must survive is in the spool and is sent again after the next hello.
 */
export type Link = {
  /**
   * Sends a request. Rejects with `LinkDown` when the link is or goes down, with `LinkFault` on a named
   * error.
   */
  call<T extends AgentCallName>(
    t: T,
    request: Omit<AgentCalls[T]['request'], 't'>,
    timeoutSeconds?: number,
  ): Promise<AgentCalls[T]['answer']>
  /** Sends the message if the link is up and not congested; otherwise drops it. */
  signal(message: Partial): void
  /** True after the hello was answered. */
  isUp(): boolean
  close(): void
}

export type AgentCallName = keyof AgentCalls

export type LinkDeps = {
  url: string
  key: string
  clock: Clock
  log: Log
  /** Called for each new connection. */
  hello(): Omit<AgentCalls['hello']['request'], 't'>
  /** Called with the platform's answer to the hello. */
  onUp(answer: HelloAnswer): void
  /** Answers a request of the platform; throws `LinkFault` for a named error. */
  onCall(t: string, message: Json): Promise<object>
  onSignal(t: string): void
}

/** The link is down; callers try again after the next hello. */
export class LinkDown extends Error {
  constructor(message = 'The link to the platform is down.') {
    super(message)
    this.name = 'LinkDown'
  }
}

/** A named error in either direction. */
export class LinkFault extends Error {
  readonly code: LinkErrorCode
  constructor(code: LinkErrorCode, message: string) {
    super(message)
    this.name = 'LinkFault'
    this.code = code
  }
}

type PendingRequest = { done(answer: Json): void; fail(fault: Error): void }

/** Signals are dropped above this size: buffered data matters more than single signals. */
const congestedBytes = 1024 * 1024
const handshakeMs = 10_000

/** Connects immediately. */
export function createLink(deps: LinkDeps): Link {
  const { clock, log } = deps
  let socket: WebSocketClient | null = null
  let isUp = false
  let isClosed = false
  let attempt = 0
  let nextId = 1
  let cancelRetry = () => {}
  const pending = new Map<string, PendingRequest>()

  connect()

  function connect() {
    let opened: WebSocketClient | null = null
    // Late events of an older connection are ignored.
    const isCurrent = () => opened === socket
    opened = dial(
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
    socket = opened
  }

  function lost() {
    socket = null
    isUp = false
    attempt += 1
    for (const { fail } of pending.values()) fail(new LinkDown())
    pending.clear()
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
        // The platform refused the hello or did not answer: this connection is useless.
        if (!(fault instanceof LinkDown)) log.warn('hello refused', { reason: faultText(fault) })
        socket?.close()
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
    const request = pending.get(String(message.re))
    if (!request) return
    pending.delete(String(message.re))
    if (!isObject(message.error)) return request.done(message)
    const error = objectAt(message, 'error')
    // The platform's codes are a subset of the link's; an unknown one is only displayed.
    const code = (textAt(error, 'code') ?? 'io_error') as LinkErrorCode
    request.fail(new LinkFault(code, textAt(error, 'message') ?? 'The platform refused.'))
  }

  async function answer(t: string, message: Json) {
    const asker = socket
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
    const current = socket
    if (!current) return Promise.reject(new LinkDown())
    const id = nextId++
    return new Promise((resolve, reject) => {
      const cancel = clock.after(timeoutSeconds * 1000, () => {
        // A missing answer means that the other end is gone, even if TCP has not noticed.
        log.warn('no answer', { t })
        current.close()
      })
      pending.set(String(id), {
        // The contracts define the answer's shape; the platform's answers are trusted.
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
      if (isUp && socket && socket.buffered() < congestedBytes) socket.send(JSON.stringify(message))
    },
    isUp: () => isUp,
    close() {
      isClosed = true
      cancelRetry()
      const current = socket
      lost()
      current?.close()
    },
  }
}
