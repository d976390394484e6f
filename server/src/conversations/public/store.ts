import { sql } from 'kysely'
import type { SealedText } from '../../foundation/vault/index.ts'
import type { Executor } from '../../ports/database/port.ts'

export type PublicLinksTable = {
  id: string
  agent_id: string
  /** SHA-256 of the token, by which a visitor's request finds the link. */
  token_hash: string
  /** Sealed by the vault, so that the owner can see the address again. */
  token_sealed: SealedText
  name: string | null
  enabled: number
  require_email: number
  expires_at: string | null
  daily_message_limit: number | null
  /** Email address or user name of the creator. */
  created_by: string
  created_at: string
  total_messages: number
  last_used_at: string | null
  /** The UTC day (`2026-01-31`) that `day_messages` counts; null before the first message. */
  day: string | null
  day_messages: number
  /** People who wrote on the link and have been deleted since. */
  past_people: number
  greeting: string | null
  /** JSON array of texts; null without any. */
  starter_questions: string | null
}

/** Somebody who has written on a link or verified an address for it. */
export type PublicVisitorsTable = {
  id: string
  link_id: string
  /** SHA-256 of the browser's `session_id`; null for a verified address. */
  session_hash: string | null
  /** Verified and lower-cased. Null on a link without verification. */
  email: string | null
  created_at: string
  last_message_at: string | null
}

export type PublicSessionTokensTable = { token_hash: string; visitor_id: string; expires_at: string }

/** The link that started a run. */
export type PublicTurnsTable = {
  execution_id: string
  link_id: string
  /** Hash of the session token that started it; null on a link without verification. */
  token_hash: string | null
}

export type PublicTables = {
  public_links: PublicLinksTable
  public_visitors: PublicVisitorsTable
  public_session_tokens: PublicSessionTokensTable
  public_turns: PublicTurnsTable
  /** Columns of other features, read only to check existence. */
  executions: { id: string; status: string }
  chat_sessions: { id: string; current_key: string | null }
}

export type LinkRow = PublicLinksTable
export type VisitorRow = PublicVisitorsTable
export type TurnRow = PublicTurnsTable
/** The fields of a link that an owner may change. */
export type LinkPatch = Partial<
  Pick<
    LinkRow,
    | 'name'
    | 'enabled'
    | 'require_email'
    | 'expires_at'
    | 'daily_message_limit'
    | 'greeting'
    | 'starter_questions'
  >
>

/** The SQL of public links, their visitors and their turns. */
export function publicStore(executor: Executor) {
  const db = executor.withTables<PublicTables>()
  const ofAgent = (agentId: string) =>
    db.selectFrom('public_links').select('id').where('agent_id', '=', agentId)

  return {
    // ── links ──
    async insertLink(row: LinkRow): Promise<void> {
      await db.insertInto('public_links').values(row).execute()
    },
    async links(agentId: string): Promise<LinkRow[]> {
      return db
        .selectFrom('public_links')
        .selectAll()
        .where('agent_id', '=', agentId)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .execute()
    },
    async link(agentId: string, id: string): Promise<LinkRow | null> {
      const row = await db
        .selectFrom('public_links')
        .selectAll()
        .where('id', '=', id)
        .where('agent_id', '=', agentId)
        .executeTakeFirst()
      return row ?? null
    },
    async linkByToken(tokenHash: string): Promise<LinkRow | null> {
      const row = await db
        .selectFrom('public_links')
        .selectAll()
        .where('token_hash', '=', tokenHash)
        .executeTakeFirst()
      return row ?? null
    },
    /** Returns null when the agent has no such link. */
    async updateLink(agentId: string, id: string, patch: LinkPatch): Promise<LinkRow | null> {
      const row = await db
        .updateTable('public_links')
        // Keeps the statement valid for an empty patch.
        .set((e) => ({ created_at: e.ref('created_at'), ...patch }))
        .where('id', '=', id)
        .where('agent_id', '=', agentId)
        .returningAll()
        .executeTakeFirst()
      return row ?? null
    },
    async removeLink(id: string): Promise<void> {
      await db.deleteFrom('public_links').where('id', '=', id).execute()
    },
    /**
     * Counts one message if the link is open to the visitor and below its daily limit, and locks the link until the
     * transaction ends. Returns false when the message is refused.
     */
    async countMessage(
      id: string,
      { day, now, isVerified }: { day: string; now: string; isVerified: boolean },
    ): Promise<boolean> {
      const result = await db
        .updateTable('public_links')
        .set((e) => ({
          total_messages: e('total_messages', '+', 1),
          last_used_at: now,
          day,
          day_messages: e
            .case()
            .when('day', '=', day)
            .then(e('day_messages', '+', 1))
            .else(e.lit(1))
            .end(),
        }))
        .where('id', '=', id)
        .where('enabled', '=', 1)
        .$if(!isVerified, (query) => query.where('require_email', '=', 0))
        .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', now)]))
        .where((e) =>
          e.or([
            e('daily_message_limit', 'is', null),
            e('day', 'is', null),
            e('day', '<>', day),
            e('day_messages', '<', e.ref('daily_message_limit')),
          ]),
        )
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },
    /** People who have written on each link. */
    async people(agentId: string): Promise<Map<string, number>> {
      const rows = await db
        .selectFrom('public_visitors')
        .select('link_id')
        .select((e) => e.fn.countAll<number>().as('people'))
        .where('link_id', 'in', ofAgent(agentId))
        .where('last_message_at', 'is not', null)
        .groupBy('link_id')
        .execute()
      return new Map(rows.map(({ link_id, people }) => [link_id, Number(people)]))
    },

    // ── visitors ──
    /** Returns the visitor of a verified address; inserts one if needed. */
    async ensureAddress(row: VisitorRow & { email: string }): Promise<VisitorRow> {
      await db
        .insertInto('public_visitors')
        .values(row)
        .onConflict((c) => c.columns(['link_id', 'email']).doNothing())
        .execute()
      return db
        .selectFrom('public_visitors')
        .selectAll()
        .where('link_id', '=', row.link_id)
        .where('email', '=', row.email)
        .executeTakeFirstOrThrow()
    },
    async visitorBySession(linkId: string, sessionHash: string): Promise<VisitorRow | null> {
      const row = await db
        .selectFrom('public_visitors')
        .selectAll()
        .where('session_hash', '=', sessionHash)
        .where('link_id', '=', linkId)
        .executeTakeFirst()
      return row ?? null
    },
    async visitorByToken(linkId: string, tokenHash: string, now: string): Promise<VisitorRow | null> {
      const row = await db
        .selectFrom('public_session_tokens')
        .innerJoin('public_visitors', 'public_visitors.id', 'public_session_tokens.visitor_id')
        .selectAll('public_visitors')
        .where('public_session_tokens.token_hash', '=', tokenHash)
        .where('public_session_tokens.expires_at', '>', now)
        .where('public_visitors.link_id', '=', linkId)
        .executeTakeFirst()
      return row ?? null
    },
    /** Visitors of a link without a verified address. */
    async unverified(linkId: string): Promise<Pick<VisitorRow, 'id' | 'link_id'>[]> {
      return db
        .selectFrom('public_visitors')
        .select(['id', 'link_id'])
        .where('link_id', '=', linkId)
        .where('email', 'is', null)
        .execute()
    },
    async visitors(linkIds: readonly string[]): Promise<string[]> {
      if (linkIds.length === 0) return []
      const rows = await db
        .selectFrom('public_visitors')
        .select('id')
        .where('link_id', 'in', [...linkIds])
        .execute()
      return rows.map(({ id }) => id)
    },
    /** Inserts the visitor again if the sweep has just deleted it. */
    async recordMessage(visitor: VisitorRow, at: string): Promise<void> {
      await db
        .insertInto('public_visitors')
        .values({ ...visitor, last_message_at: at })
        .onConflict((c) => c.column('id').doUpdateSet({ last_message_at: at }))
        .execute()
    },
    /** Returns false when the old session is no longer current. */
    async changeSession(visitorId: string, from: string, to: string): Promise<boolean> {
      const result = await db
        .updateTable('public_visitors')
        .set({ session_hash: to })
        .where('id', '=', visitorId)
        .where('session_hash', '=', from)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },
    async insertToken(row: PublicSessionTokensTable): Promise<void> {
      await db.insertInto('public_session_tokens').values(row).execute()
    },
    async removeExpiredTokens(now: string): Promise<void> {
      await db.deleteFrom('public_session_tokens').where('expires_at', '<=', now).execute()
    },

    /**
     * Deletes at most `limit` visitors inactive since `before` that have neither a conversation nor a session token.
     * Links keep counting them. Needs a transaction; returns how many were deleted.
     */
    async removeInactiveVisitors(before: string, now: string, limit: number): Promise<number> {
      const inactive = db
        .selectFrom('public_visitors as v')
        .where((e) => e(e.fn.coalesce('v.last_message_at', 'v.created_at'), '<', before))
        .where((e) =>
          e.not(
            e.exists(
              e
                .selectFrom('chat_sessions as s')
                .select('s.id')
                .where('s.current_key', '=', sql<string>`'public:' || v.link_id || ':' || v.id`),
            ),
          ),
        )
        .where((e) =>
          e.not(
            e.exists(
              e
                .selectFrom('public_session_tokens as t')
                .select('t.token_hash')
                .whereRef('t.visitor_id', '=', 'v.id')
                .where('t.expires_at', '>', now),
            ),
          ),
        )
        .limit(limit)
      // Lock links before visitors, in the same order as a message does, to avoid a deadlock.
      const locked = await db
        .updateTable('public_links')
        .set((e) => ({ past_people: e.ref('past_people') }))
        .where('id', 'in', inactive.select('v.link_id'))
        .returning('id')
        .execute()
      if (locked.length === 0) return 0
      const links = locked.map(({ id }) => id)
      const deleted = await db
        .deleteFrom('public_visitors')
        .where('id', 'in', inactive.where('v.link_id', 'in', links).select('v.id'))
        .returning(['link_id', 'last_message_at'])
        .execute()
      const countedByLink = Map.groupBy(
        deleted.filter(({ last_message_at }) => last_message_at !== null),
        ({ link_id }) => link_id,
      )
      for (const [id, { length }] of countedByLink) {
        await db
          .updateTable('public_links')
          .set((e) => ({ past_people: e('past_people', '+', length) }))
          .where('id', '=', id)
          .execute()
      }
      return deleted.length
    },

    // ── turns ──
    async insertTurn(row: TurnRow): Promise<void> {
      await db.insertInto('public_turns').values(row).execute()
    },
    /** Whether the link started this run, with this session token or without one. */
    async hasTurn(linkId: string, executionId: string, tokenHash: string | null): Promise<boolean> {
      const row = await db
        .selectFrom('public_turns')
        .select('execution_id')
        .where('execution_id', '=', executionId)
        .where('link_id', '=', linkId)
        .where('token_hash', tokenHash === null ? 'is' : '=', tokenHash)
        .executeTakeFirst()
      return row !== undefined
    },
    /** Links past their expiry with runs that have not ended. */
    async expiredWithTurns(now: string): Promise<LinkRow[]> {
      return db
        .selectFrom('public_links')
        .selectAll()
        .where('expires_at', '<=', now)
        .where('id', 'in', (e) =>
          e
            .selectFrom('public_turns')
            .innerJoin('executions', 'executions.id', 'public_turns.execution_id')
            .select('public_turns.link_id')
            .where('executions.status', 'in', ['queued', 'running', 'pending_retry']),
        )
        .execute()
    },
    async removeTurns(executionIds: readonly string[]): Promise<void> {
      await db
        .deleteFrom('public_turns')
        .where('execution_id', 'in', [...executionIds])
        .execute()
    },

    async removeOfAgent(agentId: string): Promise<void> {
      await db.deleteFrom('public_links').where('agent_id', '=', agentId).execute()
    },
  }
}

export type PublicStore = ReturnType<typeof publicStore>
