import { z } from 'zod'
import { type Clock, waitEnded } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import { type Ephemeral, EphemeralDown } from '../ephemeral/port.ts'
import type { Log } from '../log.ts'
import { LinkDown, LinkFault, LinkTimeout, type PlatformCallName } from './port.ts'

/**
 * Exchanges link information between the platform's processes: who holds which link, and requests forwarded
 * to the holder. Uses topics of the ephemeral store, so messages may be lost. Presence is repeated, and a
 * lost request times out.
 */
export type Replicas = {
  open(): Promise<void>
  /** True when another process has a greeted link to the agent. */
  holds(agentId: string): boolean
  /** Sends a request through the process that holds the link. Throws like `AgentLink.call`. */
  forward(agentId: string, t: PlatformCallName, request: object, timeoutMs: number): Promise<unknown>
  announceOpened(agentId: string, openedAt: number): void
  announceGreeted(agentId: string): void
  announceClosed(agentId: string): void
  wake(agentId: string): void
  disconnect(agentId: string, code: number, reason: string): void
  /** Repeats this process's presence and drops silent processes. */
  repeat(): void
  close(): Promise<void>
}

/** Operations of this process on behalf of others. */
export type LocalLinks = {
  greeted(): string[]
  /** Closes an own link that is older than `openedAt`, because another process opened a newer one. */
  giveWay(agentId: string, openedAt: number): void
  call(agentId: string, t: PlatformCallName, request: object, timeoutMs: number): Promise<unknown>
  /** False when this process has no greeted link to the agent. */
  wake(agentId: string): boolean
  disconnect(agentId: string, code: number, reason: string): void
}

export const presenceSeconds = 5
/** Presence expires without a repetition for this long. */
const presenceExpirySeconds = 16

export function createReplicas(deps: {
  ephemeral: Pick<Ephemeral, 'publish' | 'subscribe'>
  local: LocalLinks
  clock: Clock
  log: Log
}): Replicas {
  const { ephemeral, local, clock, log } = deps
  const ownId = newId()
  const replicas = new Map<string, { agents: Set<string>; at: number; hasDirectWakes: boolean }>()
  const pendingCalls = new Map<string, { replica: string; agent: string; done(answer: CallAnswer): void }>()
  const subscriptions: { close(): Promise<void> }[] = []

  function publish(topic: string, notice: Notice | Direct): void {
    ephemeral.publish(topic, JSON.stringify(notice)).catch((error: unknown) => {
      // Fails open: own links keep working; those of others are unreachable until the store is back.
      if (!(error instanceof EphemeralDown)) log.error({ err: error }, 'link notice not sent')
    })
  }

  function onNotice(text: string): void {
    const notice = parse(Notice, text)
    if (!notice || notice.from === ownId) return
    const known = replicas.get(notice.from) ?? { agents: new Set<string>(), at: 0, hasDirectWakes: false }
    known.at = clock.now().getTime()
    switch (notice.k) {
      case 'held':
        known.agents = new Set(notice.agents)
        known.hasDirectWakes = notice.direct_wakes ?? false
        break
      case 'opened':
        local.giveWay(notice.agent, notice.at)
        break
      case 'greeted':
        known.agents.add(notice.agent)
        forgetOthers(notice.agent, notice.from)
        break
      case 'closed':
        known.agents.delete(notice.agent)
        failCalls(({ replica, agent }) => replica === notice.from && agent === notice.agent)
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
    replicas.set(notice.from, known)
  }

  /** A process that died did not say that its links are closed. The newest link of an agent is the only one. */
  function forgetOthers(agent: string, holder: string): void {
    for (const [replica, { agents }] of replicas) if (replica !== holder) agents.delete(agent)
    failCalls((each) => each.agent === agent && each.replica !== holder)
  }

  function failCalls(isLost: (call: { replica: string; agent: string }) => boolean): void {
    for (const [call, pending] of pendingCalls)
      if (isLost(pending)) pending.done({ k: 'answer', call, down: 'down' })
  }

  async function onDirect(text: string): Promise<void> {
    const direct = parse(Direct, text)
    if (!direct) return
    if (direct.k === 'answer') return pendingCalls.get(direct.call)?.done(direct)
    if (direct.k === 'wake') {
      // The sender does not know yet that the agent is linked elsewhere.
      if (!local.wake(direct.agent)) wakeEverywhere(direct.agent)
      return
    }
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
    publish(noticeTopic, { k: 'held', from: ownId, agents: local.greeted(), direct_wakes: true })
    const oldest = clock.now().getTime() - presenceExpirySeconds * 1000
    for (const [silent, { at }] of replicas) {
      if (at >= oldest) continue
      replicas.delete(silent)
      failCalls(({ replica }) => replica === silent)
    }
  }

  function holderOf(agentId: string): string | null {
    const oldest = clock.now().getTime() - presenceExpirySeconds * 1000
    for (const [replica, { agents, at }] of replicas) if (at >= oldest && agents.has(agentId)) return replica
    return null
  }

  function wakeEverywhere(agent: string): void {
    publish(noticeTopic, { k: 'wake', from: ownId, agent })
  }

  const onReconnect = () => {
    publish(noticeTopic, { k: 'who', from: ownId })
    repeat()
  }

  return {
    async open() {
      try {
        subscriptions.push(await ephemeral.subscribe(noticeTopic, onNotice, onReconnect))
        subscriptions.push(await ephemeral.subscribe(topicOf(ownId), (text) => void onDirect(text)))
      } catch (error) {
        if (!(error instanceof EphemeralDown)) throw error
        log.warn({ err: error }, 'links of other processes are unreachable: the ephemeral store is down')
      }
      onReconnect()
    },
    holds: (agentId) => holderOf(agentId) !== null,
    async forward(agentId, t, request, timeoutMs) {
      const replica = holderOf(agentId)
      if (!replica) throw new LinkDown()
      const call = newId()
      const ended = new AbortController()
      const answered = new Promise<CallAnswer>((done) =>
        pendingCalls.set(call, { replica, agent: agentId, done }),
      )
      // Slightly longer than the holder waits, so that the holder's answer comes first.
      const late = clock
        .wait(timeoutMs + 1000, ended.signal)
        .then((): CallAnswer => ({ k: 'answer', call, down: 'timeout' }))
      publish(topicOf(replica), {
        k: 'call',
        call,
        from: ownId,
        agent: agentId,
        t,
        request: { ...request },
        timeoutMs,
      })
      const answer = await Promise.race([answered, late])
      pendingCalls.delete(call)
      ended.abort(waitEnded)
      if (answer.fault) throw new LinkFault(answer.fault)
      if (answer.down) throw answer.down === 'timeout' ? new LinkTimeout() : new LinkDown()
      return answer.answer
    },
    announceOpened: (agent, at) => publish(noticeTopic, { k: 'opened', from: ownId, agent, at }),
    announceGreeted(agent) {
      forgetOthers(agent, ownId)
      publish(noticeTopic, { k: 'greeted', from: ownId, agent })
    },
    announceClosed: (agent) => publish(noticeTopic, { k: 'closed', from: ownId, agent }),
    wake(agent) {
      const holder = holderOf(agent)
      // Each new run causes one: the other processes need not parse it.
      if (holder && replicas.get(holder)?.hasDirectWakes) publish(topicOf(holder), { k: 'wake', agent })
      else wakeEverywhere(agent)
    },
    disconnect: (agent, code, reason) =>
      publish(noticeTopic, { k: 'disconnect', from: ownId, agent, code, reason }),
    repeat,
    async close() {
      publish(noticeTopic, { k: 'held', from: ownId, agents: [] })
      for (const subscription of subscriptions) await subscription.close()
    },
  }
}

const noticeTopic = 'links'
const topicOf = (replica: string) => `links:${replica}`

const about = { from: z.string(), agent: z.string() }
const Notice = z.discriminatedUnion('k', [
  z.object({
    k: z.literal('held'),
    from: z.string(),
    agents: z.array(z.string()),
    /** False or absent: only receives wakes that are sent to all, like the previous release. */
    direct_wakes: z.boolean().optional(),
  }),
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
  z.object({ k: z.literal('wake'), agent: z.string() }),
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

/** Returns null for messages of other platform versions. */
function parse<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    const result = schema.safeParse(JSON.parse(text))
    return result.success ? result.data : null
  } catch {
    return null
  }
}
