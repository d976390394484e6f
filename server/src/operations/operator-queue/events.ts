import { agentStore } from '../../agents/records/index.ts'
import type { NewEvent } from '../../foundation/outbox/index.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { ItemRow } from './store.ts'

/** The agent of an item, as its events name it. */
export type ItemAgent = { id: string; name: string; owner_id: string } | null

/** Null for an item about no single agent, or about a deleted one. */
export async function itemAgent(tx: Tx, agentId: string | null): Promise<ItemAgent> {
  if (agentId === null) return null
  return (await agentStore(tx).byId(agentId)) ?? null
}

function about(agent: ItemAgent): Pick<NewEvent, 'agent_names' | 'agent_ids' | 'audience'> {
  if (!agent) return { agent_names: [], agent_ids: [], audience: 'admin' }
  return { agent_names: [agent.name], agent_ids: [agent.id] }
}

/**
 * Event of a new item. Its texts are reserved for people who may see the item. Others with access to the agent
 * get only its id, type and priority.
 */
export function newItemEvent(row: ItemRow, agent: ItemAgent): NewEvent {
  const { id, type, priority, title, created_at } = row
  return {
    type: 'operator_queue.new',
    ...about(agent),
    fields: { item_id: id, item_type: type, priority },
    reserved: {
      fields: {
        title,
        data: { id, agent_name: agent?.name ?? null, type, priority, title, created_at },
      },
      is_open: false,
      user_id: agent?.owner_id ?? null,
      key_id: null,
    },
  }
}

/** Event of a change of state: `operator_queue.responded`, `.acknowledged`, `.cancelled`, `.expired`. */
export function itemEvent(row: Pick<ItemRow, 'id' | 'status' | 'responded_by_email'>, agent: ItemAgent) {
  const by = row.responded_by_email
  return {
    type: `operator_queue.${row.status}`,
    ...about(agent),
    fields: { item_id: row.id, status: row.status, ...(by === null ? {} : { responded_by: by }) },
  } satisfies NewEvent
}
