/** The operator queue's file in an agent's workspace, reported and answered over the link. */

/** Size limit of the file with requests to operators; larger files are not read. */
export const maxQueueBytes = 1024 * 1024
/** Only this many entries at the end of the file are read. */
export const maxQueueEntries = 1000

/**
 * Content of `~/.roost/operator-queue.json`, sent after every change and after each hello. Both fields are
 * null when the file is missing; `fault` says why it is unreadable.
 */
export type Queue = { t: 'queue'; requests: unknown[] | null; fault: string | null }
/** Changes to the file, by entry id. */
export type QueueAnswer = { updates: QueueUpdate[] }
export type QueueUpdate = {
  id: string
  status: 'responded' | 'acknowledged' | 'cancelled' | 'expired'
  response: string | null
  response_text: string | null
  responded_by: string | null
  responded_at: string | null
}

/** Requests a report of the file because something was answered. */
export type QueueLook = { t: 'queue.look' }
