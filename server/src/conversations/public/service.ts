import type { PublicChatBody, PublicChatShown, PublicReply } from '@roost/contracts/conversations/public-chat'
import type { Loop } from '../../background/loops.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Asking } from '../../runs/waiting/index.ts'
import { type AccessRevocationPort, createLastingReplies, type Lasting } from '../chat/index.ts'
import { createLinks, type Links, type LinksDeps } from './links.ts'
import { createResolveLink, type OpenLink, type ResolveLink, type ResolveLinkDeps } from './resolve-link.ts'
import { publicStore } from './store.ts'
import { createTalk, type Taken, type Talk, type TalkDeps } from './talk.ts'
import { createTurns, type Turns, type TurnsDeps } from './turns.ts'
import { createVerification, type Verification, type VerificationDeps } from './verification.ts'
import { createVisitors, type Visitors, type VisitorsDeps } from './visitors.ts'

export type PublicChatDeps = ResolveLinkDeps &
  Omit<LinksDeps, 'events'> &
  Omit<TalkDeps, 'visitors'> &
  Omit<TurnsDeps, 'visitors'> &
  Omit<VerificationDeps, 'visitors'> &
  VisitorsDeps & {
    events: Pick<Outbox, 'append' | 'on'>
    limits: Pick<RateLimits, 'use' | 'clear'>
    accessRevocation: AccessRevocationPort & { recheck(agent: { id: string; name: string }): void }
    /** What the agent is there for; null: nobody has said. */
    descriptionOf(agent: { id: string }): Promise<string | null>
    /** The feature is switched on. */
    isOn(): boolean
  }

export type PublicChat = {
  links: Links
  visitors: Visitors
  verification: Verification
  talk: Talk
  turns: Turns
  /** Throws `feature_disabled`. */
  refuseOff(): void
  /** What somebody who opens the page is told of the link. */
  shown(open: OpenLink): Promise<PublicChatShown>
  /** A visitor who asks for something. Throws `rate_limited`, `link_not_found`, `feature_disabled`. */
  lookUp(token: string, ip: string): Promise<OpenLink>
  /** A visitor who says something; throws alike. */
  speak(token: string, ip: string): Promise<OpenLink>
  /** What `make` gives, as long as the link is open. */
  stream<T>(on: Call, make: (signal: AbortSignal) => AsyncIterable<T>): AsyncIterable<T>
  /** The reply of a turn. Throws as `Talk.wait` does, and `link_not_found` when the link was closed meanwhile. */
  wait(on: Call, taken: Taken, asking: Omit<Asking, 'signal'>): Promise<PublicReply>
  take(open: OpenLink, asked: PublicChatBody): Promise<Taken>
  /** Hook of the registry. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
  loops: Loop[]
  close(): Promise<void>
}

/** A call of a visitor that may last. */
export type Call = { token: string; open: OpenLink; signal: AbortSignal }

export function createPublicChat(deps: PublicChatDeps): PublicChat {
  const { db, limits, events, accessRevocation } = deps
  const door: ResolveLink = createResolveLink(deps)
  const visitors = createVisitors(deps)
  const verification = createVerification({ ...deps, visitors })
  const talk = createTalk({ ...deps, visitors })
  const lasting = createLastingReplies(accessRevocation)

  function refuseOff(): void {
    if (!deps.isOn()) throw new Fault('feature_disabled', 'Public links are switched off.')
  }

  // In every process, whichever of them has changed the link.
  const stopHearing = events.on('*', (event) => {
    if (event.type !== 'public_link.updated' && event.type !== 'public_link.deleted') return
    const [[id], [name]] = [event.agent_ids, event.agent_names]
    if (id && name) accessRevocation.recheck({ id, name })
  })

  function lastingOf({ token, open: { agent }, signal }: Call): Lasting {
    const refusal = () => new Fault('link_not_found')
    return { agent: { id: agent.id, name: agent.name }, signal, ask: () => door.enter(token), refusal }
  }

  return {
    links: createLinks(deps),
    visitors,
    verification,
    talk,
    turns: createTurns({ ...deps, visitors }),
    refuseOff,

    async shown({ link, agent }) {
      return {
        valid: true,
        require_email: link.require_email === 1,
        agent_available: agent.status === 'running',
        agent_label: agent.label ?? agent.name,
        agent_description: await deps.descriptionOf(agent),
      }
    },
    async lookUp(token, ip) {
      refuseOff()
      await limits.use(rateRules.publicLookup, ip)
      return door.enter(token)
    },
    async speak(token, ip) {
      refuseOff()
      await limits.use(rateRules.publicChatAddress, ip)
      const open = await door.enter(token)
      await limits.use(rateRules.publicChatLink, open.link.id)
      return open
    },
    take: async (open, asked) => talk.take(open, await visitors.of(open.link, asked), asked),
    stream: (on, make) => lasting.stream(lastingOf(on), make),
    wait: (on, taken, asking) =>
      lasting.wait(lastingOf(on), (signal) => talk.wait(taken, { ...asking, signal })),

    agentDeleted: (tx, agentId) => publicStore(tx).removeOfAgent(agentId),
    loops: [
      { name: 'public-chat.sessions', everySeconds: 3600, run: visitors.sweep },
      { name: 'public-chat.turns', everySeconds: 86_400, run: () => publicStore(db).removeLostTurns() },
    ],
    async close() {
      stopHearing()
      await verification.settled()
    },
  }
}
