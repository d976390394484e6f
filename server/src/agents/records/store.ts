import type { ShareAccess } from '@roost/contracts/agents/agent'
import type { SealedText } from '../../foundation/vault/index.ts'
import type { Executor } from '../../ports/database/port.ts'
import { type Agent, type AgentShare, type Leftover, readAgent, readLeftover } from './agent.ts'
import type { AgentsTable, AgentTables } from './tables.ts'

/** Columns that can change after creation; the others are fixed. */
export type AgentPatch = Partial<Omit<AgentsTable, 'id' | 'created' | 'is_system' | 'owner_id' | 'owner'>>

/** All SQL for agents, their ports, tags, shares and leftovers; works inside and outside a transaction. */
export function agentStore(executor: Executor) {
  const db = executor.withTables<AgentTables>()

  async function withTagsAndShares(rows: AgentsTable[]): Promise<Agent[]> {
    if (rows.length === 0) return []
    const onlyId = rows.length === 1 ? rows[0]?.id : undefined
    const tagRows = await db
      .selectFrom('agent_tags')
      .selectAll()
      .$if(onlyId !== undefined, (q) => q.where('agent_id', '=', onlyId ?? ''))
      .orderBy('tag')
      .execute()
    const shareRows = await db
      .selectFrom('agent_shares')
      .selectAll()
      .$if(onlyId !== undefined, (q) => q.where('agent_id', '=', onlyId ?? ''))
      .orderBy('created_at')
      .execute()
    const tags = Map.groupBy(tagRows, (row) => row.agent_id)
    const shares = Map.groupBy(shareRows, (row) => row.agent_id)
    return rows.map((row) =>
      readAgent(
        row,
        (tags.get(row.id) ?? []).map((tag) => tag.tag),
        (shares.get(row.id) ?? []).map(({ agent_id: _, ...share }): AgentShare => share),
      ),
    )
  }

  return {
    async all(): Promise<Agent[]> {
      const rows = await db
        .selectFrom('agents')
        .selectAll()
        .orderBy('created', 'desc')
        .orderBy('id')
        .execute()
      return withTagsAndShares(rows)
    },

    async byId(id: string): Promise<Agent | null> {
      const rows = await db.selectFrom('agents').selectAll().where('id', '=', id).execute()
      return (await withTagsAndShares(rows))[0] ?? null
    },

    /** True when no run may start: the agent should stop, or its disk quota is used up. */
    async isClosedForRuns(id: string): Promise<boolean> {
      const row = await db
        .selectFrom('agents')
        .select(['desired', 'disk_state'])
        .where('id', '=', id)
        .executeTakeFirst()
      return row?.desired === 'stopped' || row?.disk_state === 'full'
    },

    /** The agents among these whose circuit breaker is switched on. */
    async withBreaker(ids: readonly string[]): Promise<ReadonlySet<string>> {
      if (ids.length === 0) return new Set()
      const rows = await db
        .selectFrom('agents')
        .select('id')
        .where('id', 'in', [...ids])
        .where('circuit_breaker_enabled', '=', 1)
        .execute()
      return new Set(rows.map(({ id }) => id))
    },

    async byName(name: string): Promise<Agent | null> {
      const rows = await db.selectFrom('agents').selectAll().where('name', '=', name).execute()
      return (await withTagsAndShares(rows))[0] ?? null
    },

    /** Returns false if the name exists; of concurrent inserts with one name, one succeeds. */
    async insert(row: AgentsTable): Promise<boolean> {
      const result = await db
        .insertInto('agents')
        .values(row)
        .onConflict((c) => c.column('name').doNothing())
        .executeTakeFirst()
      return Number(result.numInsertedOrUpdatedRows ?? 0) === 1
    },

    async countOwnedBy(ownerId: string): Promise<number> {
      const row = await db
        .selectFrom('agents')
        .select((e) => e.fn.countAll<number | string>().as('count'))
        .where('owner_id', '=', ownerId)
        .where('is_system', '=', 0)
        .where('attempt_set_id', 'is', null)
        .executeTakeFirstOrThrow()
      return Number(row.count)
    },

    /**
     * Blocks other transactions that lock, change or delete this agent until this one ends. Returns false if
     * there is no such agent. Use it before writing what others read first.
     */
    async lock(id: string): Promise<boolean> {
      const result = await db
        .updateTable('agents')
        .set((row) => ({ state: row.ref('state') }))
        .where('id', '=', id)
        .where('state', '=', 'ready')
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** Returns false if the agent does not exist. */
    async update(id: string, patch: AgentPatch): Promise<boolean> {
      const result = await db.updateTable('agents').set(patch).where('id', '=', id).executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** False if the agent no longer has this name. */
    async rename({ id, name }: Pick<Agent, 'id' | 'name'>, newName: string): Promise<boolean> {
      const result = await db
        .updateTable('agents')
        .set({ name: newName })
        .where('id', '=', id)
        .where('name', '=', name)
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },

    /**
     * Applies `patch` if the row still matches `when`; otherwise changes nothing and returns false.
     * `observedUntil` and `observedBefore` bound the row's last observation.
     */
    async move(
      id: string,
      when: {
        state?: AgentsTable['state']
        desired?: AgentsTable['desired']
        status?: readonly AgentsTable['status'][]
        containerId?: string
        held?: boolean
        diskState?: AgentsTable['disk_state']
        observedUntil?: string
        observedBefore?: string
      },
      patch: AgentPatch,
    ): Promise<boolean> {
      const { state, desired, status, containerId, held, diskState, observedUntil, observedBefore } = when
      let query = db.updateTable('agents').set(patch).where('id', '=', id)
      if (state !== undefined) query = query.where('state', '=', state)
      if (desired !== undefined) query = query.where('desired', '=', desired)
      if (status !== undefined) query = query.where('status', 'in', [...status])
      if (containerId !== undefined) query = query.where('container_id', '=', containerId)
      if (held !== undefined) query = query.where('held', '=', held ? 1 : 0)
      if (diskState !== undefined) query = query.where('disk_state', '=', diskState)
      if (observedUntil !== undefined) query = query.where('observed_at', '<=', observedUntil)
      if (observedBefore !== undefined) query = query.where('observed_at', '<', observedBefore)
      return Number((await query.executeTakeFirst()).numUpdatedRows) === 1
    },

    async sealedKey(id: string): Promise<SealedText | null> {
      const row = await db
        .selectFrom('agents')
        .select('agent_key_sealed')
        .where('id', '=', id)
        .executeTakeFirst()
      return row?.agent_key_sealed ?? null
    },

    /** Removes the row with its port, tags and shares, which frees its name and port. */
    async remove(id: string): Promise<boolean> {
      await db.deleteFrom('agent_ssh_ports').where('agent_id', '=', id).execute()
      await db.deleteFrom('agent_tags').where('agent_id', '=', id).execute()
      await db.deleteFrom('agent_shares').where('agent_id', '=', id).execute()
      const result = await db.deleteFrom('agents').where('id', '=', id).executeTakeFirst()
      return Number(result.numDeletedRows) === 1
    },

    async usedPorts(): Promise<Set<number>> {
      const rows = await db.selectFrom('agent_ssh_ports').select('port').execute()
      return new Set(rows.map((row) => row.port))
    },
    /** Returns false if another agent has the port. */
    async claimPort(agentId: string, port: number): Promise<boolean> {
      const result = await db
        .insertInto('agent_ssh_ports')
        .values({ agent_id: agentId, port })
        .onConflict((c) => c.column('port').doNothing())
        .executeTakeFirst()
      return Number(result.numInsertedOrUpdatedRows ?? 0) === 1
    },
    async releasePort(agentId: string): Promise<void> {
      await db.deleteFrom('agent_ssh_ports').where('agent_id', '=', agentId).execute()
    },

    async tagsOf(agentId: string): Promise<string[]> {
      const rows = await db
        .selectFrom('agent_tags')
        .select('tag')
        .where('agent_id', '=', agentId)
        .orderBy('tag')
        .execute()
      return rows.map((row) => row.tag)
    },
    async addTags(agentId: string, tags: readonly string[]): Promise<void> {
      if (tags.length === 0) return
      await db
        .insertInto('agent_tags')
        .values(tags.map((tag) => ({ agent_id: agentId, tag })))
        .onConflict((c) => c.columns(['agent_id', 'tag']).doNothing())
        .execute()
    },
    async removeTags(agentId: string, tags: readonly string[]): Promise<void> {
      if (tags.length === 0) return
      await db
        .deleteFrom('agent_tags')
        .where('agent_id', '=', agentId)
        .where('tag', 'in', [...tags])
        .execute()
    },

    /** Returns false if the agent is already shared with this address. */
    async addShare(agentId: string, share: AgentShare): Promise<boolean> {
      const result = await db
        .insertInto('agent_shares')
        .values({ agent_id: agentId, ...share })
        .onConflict((c) => c.columns(['agent_id', 'email']).doNothing())
        .executeTakeFirst()
      return Number(result.numInsertedOrUpdatedRows ?? 0) === 1
    },
    /** Null if the agent is not shared with this address. */
    async changeShare(agentId: string, email: string, access: ShareAccess): Promise<AgentShare | null> {
      const row = await db
        .updateTable('agent_shares')
        .set({ access })
        .where('agent_id', '=', agentId)
        .where('email', '=', email)
        .returning(['id', 'email', 'access', 'shared_by_id', 'shared_by_email', 'created_at'])
        .executeTakeFirst()
      return row ?? null
    },
    /** Returns false if the agent is not shared with this address. */
    async removeShare(agentId: string, email: string): Promise<boolean> {
      const result = await db
        .deleteFrom('agent_shares')
        .where('agent_id', '=', agentId)
        .where('email', '=', email)
        .executeTakeFirst()
      return Number(result.numDeletedRows) === 1
    },

    /** Forgets all engines, or only one. The next comparison with an engine records where each agent is. */
    async forgetEngines(engineId?: string): Promise<void> {
      for (const table of ['agents', 'agent_leftovers'] as const) {
        const change = db.updateTable(table).set({ engine_id: null })
        await (engineId === undefined ? change : change.where('engine_id', '=', engineId)).execute()
      }
    },
    /** Returns false if the agent has an engine. */
    async recordEngine(id: string, engineId: string): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('agents')
        .set({ engine_id: engineId })
        .where('id', '=', id)
        .where('engine_id', 'is', null)
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
    async recordLeftoverEngine(id: string, engineId: string): Promise<void> {
      await db
        .updateTable('agent_leftovers')
        .set({ engine_id: engineId })
        .where('id', '=', id)
        .where('engine_id', 'is', null)
        .execute()
    },
    /** For agents that no engine has: the engine creates what is missing there. Returns their number. */
    async adoptUnrecorded(engineId: string): Promise<number> {
      const { numUpdatedRows } = await db
        .updateTable('agents')
        .set({ engine_id: engineId })
        .where('engine_id', 'is', null)
        .executeTakeFirstOrThrow()
      return Number(numUpdatedRows)
    },
    /**
     * For an engine that is lost: its agents get new containers at another one. Returns their number. Leftovers
     * stay recorded for the case that the engine returns.
     */
    async moveToEngine(from: string, to: string): Promise<number> {
      if (from === to) return 0
      const { numUpdatedRows } = await db
        .updateTable('agents')
        .set({ engine_id: to, container_id: null, applied: null })
        .where('engine_id', '=', from)
        .executeTakeFirstOrThrow()
      return Number(numUpdatedRows)
    },

    async addLeftover(leftover: Leftover, createdAt: string): Promise<void> {
      const row = { ...leftover, volumes: JSON.stringify(leftover.volumes), created_at: createdAt }
      await db.insertInto('agent_leftovers').values(row).execute()
    },
    async leftovers(): Promise<Leftover[]> {
      const rows = await db.selectFrom('agent_leftovers').selectAll().orderBy('created_at').execute()
      return rows.map(readLeftover)
    },
    async removeLeftover(id: string): Promise<void> {
      await db.deleteFrom('agent_leftovers').where('id', '=', id).execute()
    },
  }
}

export type AgentStore = ReturnType<typeof agentStore>
