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
    async insertVisitor(row: VisitorRow): Promise<void> {
      await db.insertInto('public_visitors').values(row).execute()
    },
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
    async spoke(visitorId: string, at: string): Promise<void> {
      await db
        .updateTable('public_visitors')
        .set({ last_message_at: at })
        .where('id', '=', visitorId)
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
