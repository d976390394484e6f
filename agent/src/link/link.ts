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
import type { Addresses, Target } from './addresses.ts'
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
  /** Returns the address of the link. Waits for a link at most `waitMs`, then returns null. */
  target(waitMs: number): Promise<Target | null>
  close(): void
}

export type AgentCallName = keyof AgentCalls

export type LinkDeps = {
  addresses: Pick<Addresses, 'next' | 'reached' | 'hasSeveral'>
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
  /** Called when the platform's process no longer responds, so its other connections hang as well. */
  onSilent(target: Target): void
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
const pingMs = 2_000
/** Unanswered pings after which a process of several counts as dead: within 8 s. */
const quickPings = 3
/** Without another process, a slow one gets more time: 16 s. */
const patientPings = 7

/** Connects immediately. */
export function createLink(deps: LinkDeps): Link {
  const { addresses, clock, log } = deps
  let socket: WebSocketClient | null = null
  let up: Target | null = null
  let isClosed = false
  let attempt = 0
  let nextId = 1
  let cancelRetry = () => {}
  let cancelPing = () => {}
  const pending = new Map<string, PendingRequest>()
  const waiting = new Set<(target: Target | null) => void>()

  void connect()

  async function connect() {
    const target = await addresses.next()
    if (isClosed) return
    let opened: WebSocketClient | null = null
    // Late events of an older connection are ignored.
    const isCurrent = () => opened === socket
    const { url, host, handshakeMs } = target
    opened = dial(
      { url, host, headers: { authorization: `Bearer ${deps.key}` }, handshakeMs, maxMessageBytes },
      {
        onOpen() {
          if (!isCurrent() || !opened) return
          watch(opened, target)
          greet(target)
        },
        onMessage: (text) => isCurrent() && receive(text),
        onClose: ({ code, httpStatus, reason }) => {
          if (!isCurrent()) return
          lost()
          const isRefused = code === closeCodes.badScope || code === closeCodes.replaced || httpStatus === 401
          const delay = isRefused ? refusedDelay(clock.random()) : retryDelay(attempt, clock.random())
          if (attempt <= 1 || isRefused) log.warn('link lost', { url, code, reason, retry_ms: delay })
          if (!isClosed) cancelRetry = clock.after(delay, () => void connect())
        },
      },
    )
    socket = opened
  }

  /** Counts unanswered pings instead of time, so a container that was paused keeps its link. */
  function watch(client: WebSocketClient, target: Target) {
    cancelPing = clock.after(pingMs, () => {
      if (client.ping() <= (addresses.hasSeveral() ? quickPings : patientPings)) return watch(client, target)
      client.drop('no sign of life')
      deps.onSilent(target)
    })
  }

  function lost() {
    socket = null
    up = null
    cancelPing()
    attempt += 1
    for (const { fail } of pending.values()) fail(new LinkDown())
    pending.clear()
  }

  function greet(target: Target) {
    ask('hello', deps.hello(), answerSeconds).then(
      (answer) => {
        up = target
        attempt = 0
        addresses.reached(target)
        log.info('link up', { url: target.url })
        deps.onUp(answer)
        for (const found of waiting) found(target)
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
      return up ? ask(t, request, timeoutSeconds) : Promise.reject(new LinkDown())
    },
    signal(message) {
      if (up && socket && socket.buffered() < congestedBytes) socket.send(JSON.stringify(message))
    },
    isUp: () => up !== null,
    target(waitMs) {
      if (up || isClosed) return Promise.resolve(up)
      return new Promise((resolve) => {
        const found = (target: Target | null) => {
          waiting.delete(found)
          cancel()
          resolve(target)
        }
        const cancel = clock.after(waitMs, () => found(null))
        waiting.add(found)
      })
    },
    close() {
      isClosed = true
      cancelRetry()
      for (const found of waiting) found(null)
      const current = socket
      lost()
      current?.close()
    },
  }
}
