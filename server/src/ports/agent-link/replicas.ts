import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import { type Ephemeral, EphemeralDown } from '../ephemeral/port.ts'
import type { Log } from '../log.ts'
import { LinkDown, LinkFault, LinkTimeout, type PlatformCallName } from './port.ts'

/**
 * What the processes of one platform tell each other about links: who holds which, and requests that must
 * reach an agent through the process that holds its link. It goes over topics of the ephemeral store, so it
 * may be lost: presence is repeated, and a request that is lost ends as a timeout.
 */
export type Replicas = {
  open(): Promise<void>
  /** Some other process has a greeted link to the agent. */
  holds(agentId: string): boolean
  /** Asks through the process that holds the link. Throws as `AgentLink.call`. */
  forward(agentId: string, t: PlatformCallName, request: object, timeoutMs: number): Promise<unknown>
  announceOpened(agentId: string, openedAt: number): void
  announceGreeted(agentId: string): void
  announceClosed(agentId: string): void
  wake(agentId: string): void
  disconnect(agentId: string, code: number, reason: string): void
  /** Repeats what this process holds, and forgets processes that fell silent. */
  repeat(): void
  close(): Promise<void>
}

/** What this process is asked to do by the others. */
export type LocalLinks = {
  greeted(): string[]
  /** Another process took a link of the agent at `openedAt`: an older one here gives way. */
  giveWay(agentId: string, openedAt: number): void
  call(agentId: string, t: PlatformCallName, request: object, timeoutMs: number): Promise<unknown>
  wake(agentId: string): void
  disconnect(agentId: string, code: number, reason: string): void
}

export const presenceSeconds = 5
/** Presence that was not repeated for this long counts as gone. */
const presenceExpirySeconds = 16

export function createReplicas(deps: {
  ephemeral: Pick<Ephemeral, 'publish' | 'subscribe'>
  local: LocalLinks
  clock: Clock
  log: Log
}): Replicas {
  const { ephemeral, local, clock, log } = deps
  const me = newId()
  const heard = new Map<string, { agents: Set<string>; at: number }>()
  const waiting = new Map<string, (answer: CallAnswer) => void>()
  const subscriptions: { close(): Promise<void> }[] = []

  function publish(topic: string, notice: Notice | Direct): void {
    ephemeral.publish(topic, JSON.stringify(notice)).catch((error: unknown) => {
      // Fails open: links of this process work on, those of others are out of reach until the store is back.
      if (!(error instanceof EphemeralDown)) log.error({ err: error }, 'link notice not sent')
    })
  }

  function onNotice(text: string): void {
    const notice = parse(Notice, text)
    if (!notice || notice.from === me) return
    const known = heard.get(notice.from) ?? { agents: new Set<string>(), at: 0 }
    known.at = clock.now().getTime()
    switch (notice.k) {
      case 'held':
        known.agents = new Set(notice.agents)
        break
      case 'opened':
        local.giveWay(notice.agent, notice.at)
        break
      case 'greeted':
        known.agents.add(notice.agent)
        break
      case 'closed':
        known.agents.delete(notice.agent)
        break
      case 'wake':
        local.wake(notice.agent)
        break
      case 'disconnect':
        local.disconnect(notice.agent, notice.code, notice.reason)
        break
      case 'who':
        repeat()
    }
    heard.set(notice.from, known)
  }

  async function onDirect(text: string): Promise<void> {
    const direct = parse(Direct, text)
    if (!direct) return
    if (direct.k === 'answer') return waiting.get(direct.call)?.(direct)
    const reply = (answer: Omit<CallAnswer, 'k' | 'call'>) =>
      publish(topicOf(direct.from), { k: 'answer', call: direct.call, ...answer })
    try {
      const answer = await local.call(
        direct.agent,
        direct.t as PlatformCallName,
        direct.request,
        direct.timeoutMs,
      )
      reply({ answer })
    } catch (error) {
      if (error instanceof LinkFault) reply({ fault: { code: error.code, message: error.message } })
      else reply({ down: error instanceof LinkTimeout ? 'timeout' : 'down' })
    }
  }

  function repeat(): void {
    publish(everybody, { k: 'held', from: me, agents: local.greeted() })
    const oldest = clock.now().getTime() - presenceExpirySeconds * 1000
    for (const [replica, { at }] of heard) if (at < oldest) heard.delete(replica)
  }

  function holderOf(agentId: string): string | null {
    const oldest = clock.now().getTime() - presenceExpirySeconds * 1000
    for (const [replica, { agents, at }] of heard) if (at >= oldest && agents.has(agentId)) return replica
    return null
  }

  const askAgain = () => {
    publish(everybody, { k: 'who', from: me })
    repeat()
  }

  return {
    async open() {
      try {
        subscriptions.push(await ephemeral.subscribe(everybody, onNotice, askAgain))
        subscriptions.push(await ephemeral.subscribe(topicOf(me), (text) => void onDirect(text)))
      } catch (error) {
        if (!(error instanceof EphemeralDown)) throw error
        log.warn({ err: error }, 'links of other processes are out of reach: the ephemeral store is down')
      }
      askAgain()
    },
    holds: (agentId) => holderOf(agentId) !== null,
    async forward(agentId, t, request, timeoutMs) {
      const replica = holderOf(agentId)
      if (!replica) throw new LinkDown()
      const call = newId()
      const ended = new AbortController()
      const answered = new Promise<CallAnswer>((resolve) => waiting.set(call, resolve))
      // A little longer than the holder waits, so that its own word comes first.
      const late = clock
        .wait(timeoutMs + 1000, ended.signal)
        .then((): CallAnswer => ({ k: 'answer', call, down: 'timeout' }))
      publish(topicOf(replica), {
        k: 'call',
        call,
        from: me,
        agent: agentId,
        t,
        request: { ...request },
        timeoutMs,
      })
      const answer = await Promise.race([answered, late])
      waiting.delete(call)
      ended.abort()
      if (answer.fault) throw new LinkFault(answer.fault)
      if (answer.down) throw answer.down === 'timeout' ? new LinkTimeout() : new LinkDown()
      return answer.answer
    },
    announceOpened: (agent, at) => publish(everybody, { k: 'opened', from: me, agent, at }),
    announceGreeted: (agent) => publish(everybody, { k: 'greeted', from: me, agent }),
    announceClosed: (agent) => publish(everybody, { k: 'closed', from: me, agent }),
    wake: (agent) => publish(everybody, { k: 'wake', from: me, agent }),
    disconnect: (agent, code, reason) =>
      publish(everybody, { k: 'disconnect', from: me, agent, code, reason }),
    repeat,
    async close() {
      publish(everybody, { k: 'held', from: me, agents: [] })
      for (const subscription of subscriptions) await subscription.close()
    },
  }
}

const everybody = 'links'
const topicOf = (replica: string) => `links:${replica}`

const about = { from: z.string(), agent: z.string() }
const Notice = z.discriminatedUnion('k', [
  z.object({ k: z.literal('held'), from: z.string(), agents: z.array(z.string()) }),
  z.object({ k: z.literal('opened'), ...about, at: z.number() }),
  z.object({ k: z.literal('greeted'), ...about }),
  z.object({ k: z.literal('closed'), ...about }),
  z.object({ k: z.literal('wake'), ...about }),
  z.object({ k: z.literal('disconnect'), ...about, code: z.number(), reason: z.string() }),
  z.object({ k: z.literal('who'), from: z.string() }),
])
type Notice = z.infer<typeof Notice>

const CallAnswer = z.object({
  k: z.literal('answer'),
  call: z.string(),
  answer: z.unknown().optional(),
  fault: z.object({ code: z.custom<LinkFault['code']>(), message: z.string() }).optional(),
  down: z.enum(['down', 'timeout']).optional(),
})
type CallAnswer = z.infer<typeof CallAnswer>
const Direct = z.discriminatedUnion('k', [
  CallAnswer,
  z.object({
    k: z.literal('call'),
    call: z.string(),
    ...about,
    t: z.string(),
    request: z.record(z.string(), z.unknown()),
    timeoutMs: z.number(),
  }),
])
type Direct = z.infer<typeof Direct>

/** Null for what another version of the platform may say and this one does not know. */
function parse<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    const result = schema.safeParse(JSON.parse(text))
    return result.success ? result.data : null
  } catch {
    return null
  }
}
