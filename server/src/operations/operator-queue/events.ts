import type { NewEvent } from '../../foundation/outbox/index.ts'
import type { ItemRow } from './store.ts'

/** Who the item is about, as its events name it. */
export type AboutAgent = { id: string; name: string; owner_id: string } | null

function about(agent: AboutAgent): Pick<NewEvent, 'agent_names' | 'agent_ids' | 'audience'> {
  if (!agent) return { agent_names: [], agent_ids: [], audience: 'admin' }
  return { agent_names: [agent.name], agent_ids: [agent.id] }
}

/**
 * An item that was just made. Its words are for those who see the item; who merely reaches the agent is told
 * that there is one, and the list then shows what is addressed to whom.
 */
export function newItemEvent(row: ItemRow, agent: AboutAgent): NewEvent {
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

/** What became of an item: `operator_queue.responded`, `.acknowledged`, `.cancelled`, `.expired`. */
export function itemEvent(row: Pick<ItemRow, 'id' | 'status' | 'responded_by_email'>, agent: AboutAgent) {
  const by = row.responded_by_email
  return {
    type: `operator_queue.${row.status}`,
    ...about(agent),
    fields: { item_id: row.id, status: row.status, ...(by === null ? {} : { responded_by: by }) },
  } satisfies NewEvent
}
