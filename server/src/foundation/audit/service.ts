import { type Clock, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Db } from '../../ports/database/port.ts'
import { type Log, redactFields } from '../../ports/log.ts'
import type { AuditEntry } from './entry.ts'
import { createRepeats } from './repeats.ts'
import { chain, type Unchained } from './rules.ts'
import { auditStore } from './store.ts'

/**
 * Writes entries in batches and in the order of recording; several processes write one chain. A killed process loses
 * at most the entries of its last tenth of a second.
 */
export type Audit = {
  /** Returns the id of the entry. */
  record(entry: AuditEntry): string
  /** Records a read that programs may repeat often; see `Repeats`. */
  recordRead(entry: AuditEntry): void
  /** Resolves when everything recorded so far is stored. Throws the errors of the database. */
  flush(): Promise<void>
  /** Removes entries older than `before` and returns their number. */
  sweep(before: Date): Promise<number>
  /** Writes the waiting entries and stops. Throws if the database stays unavailable. */
  close(): Promise<void>
}

const batchEntries = 200
const batchMs = 100
const retryMs = 2_000
/** Bounds memory during a long outage of the database. */
const maxWaiting = 50_000
const maxDetailsLength = 16_000
/** A connection that breaks once must not lose the last entries; a database that stays away must not delay the stop. */
const closeFailures = 3
const nothing: ReadonlySet<string> = new Set()

export function createAudit(deps: { db: Db; clock: Clock; log: Pick<Log, 'error'> }): Audit {
  const { db, clock, log } = deps
  const waiting: Unchained[] = []
  const closing = new AbortController()
  let full = Promise.withResolvers<void>()
  let writing: Promise<void> | null = null
  let soon: Promise<void> | null = null
  let lost = 0
  /** After a failure, because the answer to a commit can be lost. */
  let mayBeStored = false

  /** Entries recorded meanwhile wait for the next batch. Otherwise a busy platform would write single entries. */
  const writeAll = async () => {
    for (let left = waiting.length; left > 0; ) {
      const batch = waiting.slice(0, Math.min(left, batchEntries))
      const isRepeated = mayBeStored
      mayBeStored = true
      await db.atomically(async (tx) => {
        const store = auditStore(tx)
        // Also waits for a commit that the database has not finished yet.
        const end = await store.lockEnd()
        const stored = isRepeated ? await store.storedOf(batch.map(({ event_id }) => event_id)) : nothing
        const missing = batch.filter(({ event_id }) => !stored.has(event_id))
        tx.alongside(store.append(chain(missing, end)))
      })
      mayBeStored = false
      waiting.splice(0, batch.length)
      left -= batch.length
    }
    if (lost > 0) log.error({ lost }, 'audit entries were lost while the database was unavailable')
    lost = 0
  }

  /** One writer at a time keeps the chain in the order of the queue. */
  const flush = async () => {
    repeats.flush('ended')
    while (writing) await writing.catch(() => {})
    if (waiting.length === 0) return
    writing = writeAll().finally(() => {
      writing = null
    })
    await writing
  }

  const flushSoon = async () => {
    let pauseMs = batchMs
    while (waiting.length > 0) {
      full = Promise.withResolvers()
      const pausing = new AbortController()
      const pause = clock.wait(pauseMs, AbortSignal.any([pausing.signal, closing.signal]))
      await (pauseMs === batchMs ? Promise.race([pause, full.promise]) : pause)
      pausing.abort()
      if (closing.signal.aborted) return
      try {
        await flush()
        pauseMs = batchMs
      } catch (error) {
        if (pauseMs === batchMs) log.error({ err: error, waiting: waiting.length }, 'audit entries wait')
        pauseMs = retryMs
      }
    }
  }

  const record = (entry: AuditEntry): string => {
    const row = rowOf(entry, clock.now())
    if (waiting.length >= maxWaiting) {
      lost += 1
      return row.event_id
    }
    waiting.push(row)
    if (waiting.length >= batchEntries) full.resolve()
    soon ??= flushSoon().finally(() => {
      soon = null
    })
    return row.event_id
  }
  const repeats = createRepeats({ clock, record })

  return {
    record,
    recordRead: repeats.note,
    flush,
    sweep: (before) => db.atomically((tx) => auditStore(tx).sweep(timestamp(before))),
    async close() {
      closing.abort()
      repeats.flush('all')
      await soon
      let failures = 0
      while (waiting.length > 0) {
        await flush().catch((error: unknown) => {
          failures += 1
          if (failures < closeFailures) return
          log.error({ lost: waiting.length }, 'audit entries are lost: the database is unavailable')
          throw error
        })
      }
    },
  }
}

function rowOf(entry: AuditEntry, now: Date): Unchained {
  return {
    event_id: newId(),
    event_type: entry.event_type,
    event_action: plain(entry.event_action),
    actor_type: entry.actor_type,
    actor_id: plain(entry.actor_id),
    actor_email: plain(entry.actor_email),
    actor_ip: plain(entry.actor_ip),
    mcp_key_id: plain(entry.mcp_key_id),
    mcp_key_name: plain(entry.mcp_key_name),
    mcp_scope: plain(entry.mcp_scope),
    target_type: plain(entry.target_type),
    target_id: plain(entry.target_id),
    timestamp: timestamp(now),
    details: detailsText(entry.details ?? {}),
    request_id: plain(entry.request_id),
    source: entry.source,
    endpoint: plain(entry.endpoint),
    status: entry.status ?? null,
  }
}

/** Removes characters that a database refuses or changes, so no entry can block the chain. */
function plain<T extends string | null | undefined>(text: T): T extends string ? string : string | null
function plain(text: string | null | undefined): string | null {
  return text?.replaceAll('\0', '').toWellFormed().slice(0, 500) ?? null
}

function detailsText(details: Record<string, unknown>): string {
  const text = JSON.stringify(redactFields(details))
  return text.length <= maxDetailsLength ? text : JSON.stringify({ too_long: text.length })
}
