import type { PublicChatBody, PublicChatShown, PublicReply } from '@roost/contracts/conversations/public-chat'
import type { Agent } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { RunHooks, WaitOptions } from '../../runs/executions/index.ts'
import { type AccessRevocationPort, createLongReplies, type LongReply } from '../chat/index.ts'
import { createLinks, type Links, type LinksDeps } from './links.ts'
import { createResolveLink, type OpenLink, type ResolveLink, type ResolveLinkDeps } from './resolve-link.ts'
import { starterQuestionsOf } from './rules.ts'
import { publicStore } from './store.ts'
import { type AcceptedTurn, createTalk, type Talk, type TalkDeps } from './talk.ts'
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
    hooks: Pick<RunHooks, 'onRemoving'>
    accessRevocation: AccessRevocationPort & { recheck(agent: { id: string; name: string }): void }
    /** The agent's own description; null when it has none. */
    descriptionOf(agent: { id: string }): Promise<string | null>
    /** The agent's picture: the one that was set, or a generated one. */
    pictureOf(agent: Pick<Agent, 'id' | 'name'>): Promise<Picture>
    /** Whether the feature is enabled. */
    isOn(): boolean
  }

type Picture = { mediaType: string; bytes: Uint8Array }

export type PublicChat = {
  links: Links
  visitors: Visitors
  verification: Verification
  talk: Talk
  turns: Turns
  /** Throws `feature_disabled`. */
  requireEnabled(): void
  /** The page data of a link. */
  view(open: OpenLink): Promise<PublicChatShown>
  picture(open: OpenLink): Promise<Picture>
  /** Resolves the link for a visitor's request. Throws `rate_limited`, `link_not_found`, `feature_disabled`. */
  lookUp(token: string, ip: string): Promise<AdmittedLink>
  /** Resolves the link for a visitor's message, with the message limits. Throws the same faults. */
  openForMessage(token: string, ip: string): Promise<AdmittedLink>
  /** Refuses a message without an open link before its body is read. Throws the same faults. */
  admitMessage(token: string, ip: string): Promise<void>
  /** Yields what `make` yields while the link is open. */
  stream<T>(call: Call, make: (signal: AbortSignal) => AsyncIterable<T>): AsyncIterable<T>
  /**
   * Waits for the reply of a turn. Throws the faults of `Talk.wait`, and `link_not_found` when the link was closed
   * meanwhile.
   */
  wait(call: Call, accepted: AcceptedTurn, options: Omit<WaitOptions, 'signal'>): Promise<PublicReply>
  accept(open: OpenLink, body: PublicChatBody): Promise<AcceptedTurn>
  /** Hook of agent deletion. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
  loops: Loop[]
  close(): Promise<void>
}

/** A visitor's request that may last. */
export type Call = { token: string; open: AdmittedLink; signal: AbortSignal }

/** `epoch`: the revocation epoch before the link was resolved. */
export type AdmittedLink = OpenLink & { epoch: number }

export function createPublicChat(deps: PublicChatDeps): PublicChat {
  const { limits, events, accessRevocation } = deps
  const linkResolver: ResolveLink = createResolveLink(deps)
  const visitors = createVisitors(deps)
  const verification = createVerification({ ...deps, visitors })
  const talk = createTalk({ ...deps, visitors })
  const links = createLinks(deps)
  const longReplies = createLongReplies(accessRevocation)

  function requireEnabled(): void {
    if (!deps.isOn()) throw new Fault('feature_disabled', 'Public links are switched off.')
  }

  deps.hooks.onRemoving((tx, ids) => publicStore(tx).removeTurns(ids))

  // In every process, no matter which one changed the link.
  const stopListening = events.on('*', (event) => {
    if (event.type !== 'public_link.updated' && event.type !== 'public_link.deleted') return
    const [[id], [name]] = [event.agent_ids, event.agent_names]
    if (id && name) accessRevocation.recheck({ id, name })
  })

  async function resolve(token: string): Promise<AdmittedLink> {
    const epoch = accessRevocation.revocationEpoch()
    return { ...(await linkResolver.resolve(token)), epoch }
  }

  function longReplyOf({ token, open: { agent, epoch }, signal }: Call): LongReply {
    const refusal = () => new Fault('link_not_found')
    return {
      agent: { id: agent.id, name: agent.name },
      signal,
      epoch,
      ask: () => linkResolver.resolve(token),
      refusal,
    }
  }

  return {
    links,
    visitors,
    verification,
    talk,
    turns: createTurns({ ...deps, visitors }),
    requireEnabled,

    async view({ link, agent }) {
      return {
        valid: true,
        require_email: link.require_email === 1,
        agent_available: agent.status === 'running',
        agent_label: agent.label ?? agent.name,
        agent_description: await deps.descriptionOf(agent),
        greeting: link.greeting,
        starter_questions: starterQuestionsOf(link),
      }
    },
    // The initials of the label, because visitors do not know the name.
    picture: ({ agent: { id, name, label } }) => deps.pictureOf({ id, name: label ?? name }),
    async lookUp(token, ip) {
      requireEnabled()
      await limits.use(rateRules.publicLookup, ip)
      return resolve(token)
    },
    async openForMessage(token, ip) {
      requireEnabled()
      await limits.use(rateRules.publicChatAddress, ip)
      const open = await resolve(token)
      await limits.use(rateRules.publicChatLink, open.link.id)
      return open
    },
    async admitMessage(token, ip) {
      requireEnabled()
      // Behind an open link an invalid body is reported first, and counts for no limit.
      await linkResolver.resolve(token).catch(async (error: unknown) => {
        await limits.use(rateRules.publicChatAddress, ip)
        throw error
      })
    },
    accept: async (open, body) => talk.accept(open, await visitors.of(open.link, body), body),
    stream: (call, make) => longReplies.stream(longReplyOf(call), make),
    wait: (call, accepted, options) =>
      longReplies.wait(longReplyOf(call), (signal) => talk.wait(accepted, { ...options, signal })),

    agentDeleted: (tx, agentId) => publicStore(tx).removeOfAgent(agentId),
    loops: [
      { name: 'public-chat.sessions', everySeconds: 3600, run: visitors.sweep },
      { name: 'public-chat.expired', everySeconds: 10, run: () => links.endExpired() },
    ],
    async close() {
      stopListening()
      await verification.settled()
    },
  }
}
