import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type {
  PublicLinksTable,
  PublicSessionTokensTable,
  PublicTables,
  PublicTurnsTable,
  PublicVisitorsTable,
} from './tables.ts'

export type LinkRow = PublicLinksTable
export type VisitorRow = PublicVisitorsTable
export type TurnRow = PublicTurnsTable
/** What an owner changes of a link. */
export type LinkPatch = Partial<
  Pick<LinkRow, 'name' | 'enabled' | 'require_email' | 'expires_at' | 'daily_message_limit'>
>

/** The only SQL about public links, their visitors and their turns. */
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
    /** Null: there is no such link of this agent. */
    async updateLink(agentId: string, id: string, patch: LinkPatch): Promise<LinkRow | null> {
      const row = await db
        .updateTable('public_links')
        // Also for an empty patch, which is no statement by itself.
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
     * Counts one message while the link is live and has messages left for the day, and holds the link until the
     * transaction ends. False: it is refused.
     */
    async countMessage(id: string, { day, now }: { day: string; now: string }): Promise<boolean> {
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
    /** How many people have spoken on each link. */
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
    /** The visitor of a confirmed address, made when there is none. */
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
    async visitors(linkIds: readonly string[]): Promise<string[]> {
      if (linkIds.length === 0) return []
      const rows = await db
        .selectFrom('public_visitors')
        .select('id')
        .where('link_id', 'in', [...linkIds])
        .execute()
      return rows.map(({ id }) => id)
    },
    /** Also one who was forgotten at this moment. */
    async spoke(visitor: VisitorRow, at: string): Promise<void> {
      await db
        .insertInto('public_visitors')
        .values({ ...visitor, last_message_at: at })
        .onConflict((c) => c.column('id').doUpdateSet({ last_message_at: at }))
        .execute()
    },
    /** False: the old one is none any more. */
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
    async removeOverTokens(now: string): Promise<void> {
      await db.deleteFrom('public_session_tokens').where('expires_at', '<=', now).execute()
    },

    /**
     * Forgets at most `limit` people of whom nothing has been heard since `before`: those whose conversation is gone
     * and who have no session token. Links go on counting them. In a transaction; answers how many.
     */
    async forgetVisitors(before: string, now: string, limit: number): Promise<number> {
      const silent = db
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
      // Links before their visitors, as a message takes them: else the two would wait for each other.
      const held = await db
        .updateTable('public_links')
        .set((e) => ({ past_people: e.ref('past_people') }))
        .where('id', 'in', silent.select('v.link_id'))
        .returning('id')
        .execute()
      if (held.length === 0) return 0
      const links = held.map(({ id }) => id)
      const gone = await db
        .deleteFrom('public_visitors')
        .where('id', 'in', silent.where('v.link_id', 'in', links).select('v.id'))
        .returning(['link_id', 'last_message_at'])
        .execute()
      const spoken = Map.groupBy(
        gone.filter(({ last_message_at }) => last_message_at !== null),
        ({ link_id }) => link_id,
      )
      for (const [id, { length }] of spoken) {
        await db
          .updateTable('public_links')
          .set((e) => ({ past_people: e('past_people', '+', length) }))
          .where('id', '=', id)
          .execute()
      }
      return gone.length
    },

    // ── turns ──
    async insertTurn(row: TurnRow): Promise<void> {
      await db.insertInto('public_turns').values(row).execute()
    },
    /** Whether the link has started it, with this session token or with none. */
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
    /** Turns whose records are gone. */
    async removeLostTurns(): Promise<void> {
      await db
        .deleteFrom('public_turns')
        .where('execution_id', 'not in', db.selectFrom('executions').select('id'))
        .execute()
    },

    async removeOfAgent(agentId: string): Promise<void> {
      await db.deleteFrom('public_links').where('agent_id', '=', agentId).execute()
    },
  }
}

export type PublicStore = ReturnType<typeof publicStore>
