/** The operator queue's file in an agent's workspace, told and answered over the link. */

/** The file of requests to the operator; above it is not read. */
export const maxQueueBytes = 1024 * 1024
/** Entries of that file that are looked at: the last ones. */
export const maxQueueEntries = 1000

/**
 * What `~/.roost/operator-queue.json` says, whenever it has changed and after each hello. Both null: the file is
 * not there; `fault` says why one that is there cannot be read.
 */
export type Queue = { t: 'queue'; requests: unknown[] | null; fault: string | null }
/** What the file is to say instead, by the ids of its entries. */
export type QueueAnswer = { updates: QueueUpdate[] }
export type QueueUpdate = {
  id: string
  status: 'responded' | 'acknowledged' | 'cancelled' | 'expired'
  response: string | null
  response_text: string | null
  responded_by: string | null
  responded_at: string | null
}

/** Something was answered: tell the file's state, and take what it is to say. */
export type QueueLook = { t: 'queue.look' }
