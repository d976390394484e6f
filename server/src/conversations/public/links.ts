import {
  type PublicLink,
  type PublicLinkBody,
  publicLinkCreated,
  publicLinkDeleted,
  publicLinkUpdated,
} from '@roost/contracts/conversations/public-links'
import type { AgentHooks } from '../../agents/management/index.ts'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { SealedColumn, Vault } from '../../foundation/vault/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import { newId, newSecretText } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { chatStore } from '../chat/index.ts'
import { hashOf, isOpen, starterQuestionsOf } from './rules.ts'
import { type LinkPatch, type LinkRow, publicStore } from './store.ts'
import { holderOfVisitor, holdersOf } from './visitors.ts'

export type LinksDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Pick<Vault, 'seal' | 'open'>
  events: Pick<Outbox, 'append'>
  /** Ends what people started who have lost access. */
  accessEnded: AgentHooks['accessEnded']
  agentRecords: Pick<AgentRecords, 'byId'>
  /** Base address of the visitors' pages, without a trailing slash. */
  publicUrl(): string
}

type LinkAgent = { id: string; name: string; is_system: boolean }

const linkClosed = 'The public link was closed.'

/** The links of one agent; methods for one link throw `link_not_found`. */
export type Links = {
  list(agent: LinkAgent): Promise<PublicLink[]>
  find(agent: LinkAgent, id: string): Promise<PublicLink>
  /** Throws `system_agent_protected`, and `validation_error` for an expiry in the past. */
  create(agent: LinkAgent, body: PublicLinkBody, creator: SignedIn): Promise<PublicLink>
  update(agent: LinkAgent, id: string, body: PublicLinkBody): Promise<PublicLink>
  remove(agent: LinkAgent, id: string): Promise<void>
  /** Ends the open runs of links that have expired. */
  endExpired(): Promise<void>
}

/** Manages links for their owners. */
export function createLinks({
  db,
  clock,
  vault,
  events,
  accessEnded,
  agentRecords,
  publicUrl,
}: LinksDeps): Links {
  const store = publicStore(db)

  function linkView(row: LinkRow, agentName: string, people: number): PublicLink {
    const token = vault.open(row.token_sealed, tokenContext(row.id))
    return {
      id: row.id,
      agent_name: agentName,
      token,
      url: `${publicUrl()}/chat/${token}`,
      name: row.name,
      enabled: row.enabled === 1,
      require_email: row.require_email === 1,
      expires_at: row.expires_at,
      daily_message_limit: row.daily_message_limit,
      greeting: row.greeting,
      starter_questions: starterQuestionsOf(row),
      created_by: row.created_by,
      created_at: row.created_at,
      usage: {
        total_messages: row.total_messages,
        unique_people: row.past_people + people,
        last_used_at: row.last_used_at,
      },
    }
  }

  const linkViewWithPeople = async (agent: LinkAgent, row: LinkRow) =>
    linkView(row, agent.name, (await store.people(agent.id)).get(row.id) ?? 0)

  async function announce(tx: Tx, type: string, agent: LinkAgent, row: LinkRow): Promise<void> {
    const event = {
      type,
      agent_names: [agent.name],
      agent_ids: [agent.id],
      fields: { link_id: row.id, name: row.name, enabled: row.enabled === 1 },
    }
    await events.append(tx, event, clock.now())
  }

  /** Ends what the link's visitors have started. */
  async function endTurns(tx: Tx, agent: LinkAgent, { id }: LinkRow, reason: string): Promise<void> {
    const isOf = (principal: string) => principal.startsWith(holdersOf(id))
    await accessEnded(tx, { agent, isOf, reason, now: clock.now() })
  }

  /** The same for visitors without a verified address, whose sessions a link with verification refuses. */
  async function endUnverified(tx: Tx, agent: LinkAgent, { id }: LinkRow): Promise<void> {
    const holders = new Set((await publicStore(tx).unverified(id)).map(holderOfVisitor))
    const reason = 'The public link now requires a verified address.'
    await accessEnded(tx, { agent, isOf: (principal) => holders.has(principal), reason, now: clock.now() })
  }

  function requireFuture(expires_at: string | null | undefined, current: string | null): void {
    // An expired link may be saved with its expiry unchanged.
    if (!expires_at || expires_at === current || expires_at > timestamp(clock.now())) return
    throw invalidField(['expires_at'], 'must be in the future')
  }

  async function rowOf(agent: LinkAgent, id: string): Promise<LinkRow> {
    const row = await store.link(agent.id, id)
    if (!row) throw new Fault('link_not_found')
    return row
  }

  return {
    async list(agent) {
      const [rows, people] = await Promise.all([store.links(agent.id), store.people(agent.id)])
      return rows.map((row) => linkView(row, agent.name, people.get(row.id) ?? 0))
    },

    find: async (agent, id) => linkViewWithPeople(agent, await rowOf(agent, id)),

    async create(agent, body, creator) {
      if (agent.is_system) throw new Fault('system_agent_protected')
      requireFuture(body.expires_at, null)
      const [id, token] = [newId(), newSecretText()]
      const row: LinkRow = {
        id,
        agent_id: agent.id,
        token_hash: hashOf(token),
        token_sealed: vault.seal(token, tokenContext(id)),
        ...defaults,
        ...patchOf(body),
        created_by: creator.user.email ?? creator.user.username,
        created_at: timestamp(clock.now()),
      }
      await db.atomically(async (tx) => {
        await publicStore(tx).insertLink(row)
        await announce(tx, publicLinkCreated.name, agent, row)
      })
      return linkView(row, agent.name, 0)
    },

    async update(agent, id, body) {
      const before = await rowOf(agent, id)
      requireFuture(body.expires_at, before.expires_at)
      const row = await db.atomically(async (tx) => {
        const changed = await publicStore(tx).updateLink(agent.id, id, patchOf(body))
        if (!changed) throw new Fault('link_not_found')
        await announce(tx, publicLinkUpdated.name, agent, changed)
        const isClosed = !isOpen(changed, timestamp(clock.now()))
        if (isClosed) await endTurns(tx, agent, changed, linkClosed)
        else if (changed.require_email === 1 && before.require_email === 0)
          await endUnverified(tx, agent, changed)
        return changed
      })
      return linkViewWithPeople(agent, row)
    },

    async endExpired() {
      for (const row of await store.expiredWithTurns(timestamp(clock.now()))) {
        const agent = await agentRecords.byId(row.agent_id)
        if (agent) await db.atomically((tx) => endTurns(tx, agent, row, 'The public link has expired.'))
      }
    },

    async remove(agent, id) {
      const row = await rowOf(agent, id)
      await db.atomically(async (tx) => {
        await publicStore(tx).removeLink(row.id)
        await endTurns(tx, agent, row, linkClosed)
        await chatStore(tx).removeOfHolders(agent.id, holdersOf(row.id))
        await announce(tx, publicLinkDeleted.name, agent, { ...row, enabled: 0 })
      })
    },
  }
}

const defaults = {
  name: null,
  enabled: 1,
  require_email: 0,
  expires_at: null,
  daily_message_limit: null,
  total_messages: 0,
  last_used_at: null,
  day: null,
  day_messages: 0,
  past_people: 0,
  greeting: null,
  starter_questions: null,
}

/** Maps the sent fields; absent ones stay unchanged. Empty texts and lists become null. */
function patchOf(body: PublicLinkBody): LinkPatch {
  const { greeting, starter_questions: questions } = body
  return {
    ...(body.name === undefined ? {} : { name: body.name || null }),
    ...(typeof body.enabled !== 'boolean' ? {} : { enabled: body.enabled ? 1 : 0 }),
    ...(typeof body.require_email !== 'boolean' ? {} : { require_email: body.require_email ? 1 : 0 }),
    ...(body.expires_at === undefined ? {} : { expires_at: body.expires_at }),
    ...(body.daily_message_limit === undefined ? {} : { daily_message_limit: body.daily_message_limit }),
    ...(greeting === undefined ? {} : { greeting: greeting || null }),
    ...(questions === undefined
      ? {}
      : { starter_questions: questions?.length ? JSON.stringify([...new Set(questions)]) : null }),
  }
}

function tokenContext(linkId: string): string {
  return `public-link:${linkId}`
}

export const sealedColumns: SealedColumn[] = [
  { table: 'public_links', column: 'token_sealed', key: ['id'], context: ({ id = '' }) => tokenContext(id) },
]
