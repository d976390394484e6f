import {
  type PublicLink,
  type PublicLinkBody,
  publicLinkCreated,
  publicLinkDeleted,
  publicLinkUpdated,
} from '@roost/contracts/conversations/public-links'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import { newId, newSecretText } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { chatStore } from '../chat/index.ts'
import { hashOf } from './rules.ts'
import { type LinkPatch, type LinkRow, publicStore } from './store.ts'
import { holdersOf } from './visitors.ts'

export type LinksDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Pick<Vault, 'seal' | 'open'>
  events: Pick<Outbox, 'append'>
  /** Under which visitors reach the pages, without a slash at its end. */
  publicUrl(): string
}

type LinkAgent = { id: string; name: string; is_system: boolean }

/** Of one agent; those about one link throw `link_not_found`. */
export type Links = {
  list(agent: LinkAgent): Promise<PublicLink[]>
  find(agent: LinkAgent, id: string): Promise<PublicLink>
  /** Throws `system_agent_protected`, `validation_error` for an end that has passed. */
  create(agent: LinkAgent, asked: PublicLinkBody, by: SignedIn): Promise<PublicLink>
  update(agent: LinkAgent, id: string, asked: PublicLinkBody): Promise<PublicLink>
  remove(agent: LinkAgent, id: string): Promise<void>
}

/** Links as their owners see them. */
export function createLinks({ db, clock, vault, events, publicUrl }: LinksDeps): Links {
  const store = publicStore(db)

  function shown(row: LinkRow, agentName: string, people: number): PublicLink {
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
      created_by: row.created_by,
      created_at: row.created_at,
      usage: {
        total_messages: row.total_messages,
        unique_people: row.past_people + people,
        last_used_at: row.last_used_at,
      },
    }
  }

  const shownWithPeople = async (agent: LinkAgent, row: LinkRow) =>
    shown(row, agent.name, (await store.people(agent.id)).get(row.id) ?? 0)

  async function tell(tx: Tx, type: string, agent: LinkAgent, row: LinkRow): Promise<void> {
    const event = {
      type,
      agent_names: [agent.name],
      agent_ids: [agent.id],
      fields: { link_id: row.id, name: row.name, enabled: row.enabled === 1 },
    }
    await events.append(tx, event, clock.now())
  }

  function refusePast(expires_at: string | null | undefined, present: string | null): void {
    // Sent along unchanged, the end of a link that is over is no mistake.
    if (!expires_at || expires_at === present || expires_at > timestamp(clock.now())) return
    throw invalidField(['expires_at'], 'must lie in the future')
  }

  async function rowOf(agent: LinkAgent, id: string): Promise<LinkRow> {
    const row = await store.link(agent.id, id)
    if (!row) throw new Fault('link_not_found')
    return row
  }

  return {
    async list(agent) {
      const [rows, people] = await Promise.all([store.links(agent.id), store.people(agent.id)])
      return rows.map((row) => shown(row, agent.name, people.get(row.id) ?? 0))
    },

    find: async (agent, id) => shownWithPeople(agent, await rowOf(agent, id)),

    async create(agent, asked, by) {
      if (agent.is_system) throw new Fault('system_agent_protected')
      refusePast(asked.expires_at, null)
      const [id, token] = [newId(), newSecretText()]
      const row: LinkRow = {
        id,
        agent_id: agent.id,
        token_hash: hashOf(token),
        token_sealed: vault.seal(token, tokenContext(id)),
        ...fresh,
        ...patchOf(asked),
        created_by: by.user.email ?? by.user.username,
        created_at: timestamp(clock.now()),
      }
      await db.atomically(async (tx) => {
        await publicStore(tx).insertLink(row)
        await tell(tx, publicLinkCreated.name, agent, row)
      })
      return shown(row, agent.name, 0)
    },

    async update(agent, id, asked) {
      refusePast(asked.expires_at, (await rowOf(agent, id)).expires_at)
      const row = await db.atomically(async (tx) => {
        const changed = await publicStore(tx).updateLink(agent.id, id, patchOf(asked))
        if (!changed) throw new Fault('link_not_found')
        await tell(tx, publicLinkUpdated.name, agent, changed)
        return changed
      })
      return shownWithPeople(agent, row)
    },

    async remove(agent, id) {
      const row = await rowOf(agent, id)
      await db.atomically(async (tx) => {
        await publicStore(tx).removeLink(row.id)
        await chatStore(tx).removeOfHolders(agent.id, holdersOf(row.id))
        await tell(tx, publicLinkDeleted.name, agent, { ...row, enabled: 0 })
      })
    },
  }
}

const fresh = {
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
}

/** What was sent; what is absent stays as it is. An empty name is none. */
function patchOf(asked: PublicLinkBody): LinkPatch {
  return {
    ...(asked.name === undefined ? {} : { name: asked.name || null }),
    ...(typeof asked.enabled !== 'boolean' ? {} : { enabled: asked.enabled ? 1 : 0 }),
    ...(typeof asked.require_email !== 'boolean' ? {} : { require_email: asked.require_email ? 1 : 0 }),
    ...(asked.expires_at === undefined ? {} : { expires_at: asked.expires_at }),
    ...(asked.daily_message_limit === undefined ? {} : { daily_message_limit: asked.daily_message_limit }),
  }
}

function tokenContext(linkId: string): string {
  return `public-link:${linkId}`
}
