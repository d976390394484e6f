import { once } from 'node:events'
import type { AgentCalls, LinkError, PlatformCalls } from '@roost/contracts/link/messages'
import type { Partial } from '@roost/contracts/link/runs'
import { WebSocket } from 'ws'

/** An agent program controlled by a test: real messages over a real socket. */
export type LinkAgent = AsyncDisposable & {
  /** Calls the platform. Rejects with `LinkRefusal` for an error response. */
  call<T extends keyof AgentCalls>(
    t: T,
    request: Omit<AgentCalls[T]['request'], 't'>,
  ): Promise<AgentCalls[T]['answer']>
  hello(over?: globalThis.Partial<AgentCalls['hello']['request']>): Promise<AgentCalls['hello']['answer']>
  partial(message: Omit<Partial, 't'>): void
  /** Sends raw text, valid or not. */
  send(text: string): void
  /** Returns the next message of this type from the platform, in order. */
  next(t: string): Promise<Received>
  /** Handlers for requests of the platform. Requests without one get no response. */
  answers: LinkAnswers
  /** Returns the next error for a message without a readable id. */
  nextRefusal(): Promise<LinkError>
  readonly closed: Promise<{ code: number; reason: string }>
  /** Stops reading, like a machine that hangs. */
  deaf(): void
  /** Drops the connection without a close frame. */
  cut(): void
}

export type Received = { t: string; id?: number | string } & Record<string, unknown>
export type LinkAnswers = {
  [T in keyof PlatformCalls]?: (
    request: PlatformCalls[T]['request'],
  ) => PlatformCalls[T]['answer'] | { error: LinkError } | Promise<PlatformCalls[T]['answer']>
}

export class LinkRefusal extends Error {
  readonly code: string
  constructor(error: LinkError) {
    super(error.message)
    this.name = 'LinkRefusal'
    this.code = error.code
  }
}

/** Connects to `url`; rejects with the HTTP status if the platform does not upgrade. */
export async function dialLink(url: string, headers: Record<string, string> = {}): Promise<LinkAgent> {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false })
  const pending = new Map<string, { resolve(value: never): void; reject(error: unknown): void }>()
  const received = new Map<string, Received[]>()
  const expected = new Map<string, ((message: Received) => void)[]>()
  const closed = once(socket, 'close').then(([code, reason]) => {
    for (const { reject } of pending.values()) reject(new Error('The link was closed.'))
    return { code: Number(code), reason: String(reason) }
  })
  let nextId = 1

  const receive = (t: string, message: Received) => {
    const waiting = expected.get(t)?.shift()
    if (waiting) waiting(message)
    else received.set(t, [...(received.get(t) ?? []), message])
  }

  socket.on('message', async (data) => {
    const message = JSON.parse(String(data))
    if ('re' in message) {
      if (message.re === null) return receive('refusal', { t: 'refusal', ...message.error })
      const waiting = pending.get(String(message.re))
      pending.delete(String(message.re))
      const { re: _, ...answer } = message
      return message.error
        ? waiting?.reject(new LinkRefusal(message.error))
        : waiting?.resolve(answer as never)
    }
    receive(message.t, message)
    // The compiler cannot relate the type of a handler to the name of its request.
    const answer = agent.answers[message.t as keyof PlatformCalls] as
      | ((request: unknown) => Promise<object>)
      | undefined
    if (message.id !== undefined && answer) {
      socket.send(JSON.stringify({ re: message.id, ...(await answer(message)) }))
    }
  })

  const agent: LinkAgent = {
    answers: {},
    closed,
    call(t, request) {
      const id = nextId++
      return new Promise((resolve, reject) => {
        pending.set(String(id), { resolve, reject })
        socket.send(JSON.stringify({ id, t, ...request }))
      })
    },
    hello: (over = {}) =>
      agent.call('hello', {
        protocol: 1,
        agent_name: 'test',
        image_version: null,
        runtime: 'claude-code',
        runtime_version: null,
        started_at: '2026-01-05T08:00:00.000Z',
        held: [],
        abilities: ['principals', 'template'],
        ...over,
      }),
    partial: (message) => socket.send(JSON.stringify({ t: 'partial', ...message })),
    send: (text) => socket.send(text),
    next(t) {
      const [first, ...rest] = received.get(t) ?? []
      if (first) {
        received.set(t, rest)
        return Promise.resolve(first)
      }
      return new Promise((resolve) => expected.set(t, [...(expected.get(t) ?? []), resolve]))
    },
    async nextRefusal() {
      const { code, message } = await agent.next('refusal')
      return { code, message } as LinkError
    },
    deaf: () => socket.pause(),
    cut: () => socket.terminate(),
    async [Symbol.asyncDispose]() {
      if (socket.readyState !== WebSocket.CLOSED) socket.terminate()
      await closed
    },
  }

  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve())
    socket.once('error', reject)
    socket.once('unexpected-response', (_, response) => reject(new Error(`HTTP ${response.statusCode}`)))
  })
  // A deliberately dropped link emits an error.
  socket.on('error', () => {})
  return agent
}
