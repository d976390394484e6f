import type { Vault } from '../../foundation/vault/index.ts'
import { timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Telephony } from '../../ports/telephony/port.ts'
import { type ExecutionRow, executionStore, type RunHooks, type Settle } from '../../runs/executions/index.ts'
import { accountOf } from './account.ts'
import { endingOf, type Outcome } from './rules.ts'
import { type CallRow, callStore } from './store.ts'

export type EndDeps = {
  db: Db
  log: Log
  vault: Pick<Vault, 'open'>
  telephony: Pick<Telephony, 'hangUp'>
  settle: Settle['settle']
  hooks: Pick<RunHooks, 'onEnded'>
}

export type End = {
  /**
   * Ends a call, once: its execution is ended, and whatever else follows from that. `detail` is what the provider
   * said. False: it had ended.
   */
  end(callId: string, outcome: Outcome, detail?: string | null): Promise<boolean>
  /** Every call of the agent that goes on. */
  endOpenIn(tx: Tx, agentId: string, outcome: Outcome): Promise<void>
  /** Asks the provider to end a call that is none here any more; a failure is told in the log alone. */
  hangUp(call: CallRow): void
  /** Called when a call has ended, after the commit. */
  onClosed(act: (call: CallRow) => void): void
  /** What the provider is still asked has been answered. */
  settled(): Promise<void>
}

/**
 * The one way in which calls end. The execution decides: whoever ends it, somebody who stops it too, has ended the
 * call, and everything else is a consequence in the same transaction or after it.
 */
export function createEnd({ db, log, vault, telephony, settle, hooks }: EndDeps): End {
  const closed: ((call: CallRow) => void)[] = []
  const asking = new Set<Promise<void>>()

  hooks.onEnded(async (tx, row, now) => {
    if (row.triggered_by !== 'voip') return
    const call = await callStore(tx).ofExecution(row.id)
    if (call) await closeIn(tx, call, { row, at: timestamp(now) })
  })

  async function closeIn(tx: Tx, call: CallRow, { row, at }: { row: ExecutionRow; at: string }) {
    const store = callStore(tx)
    const wasSpokenIn = call.state === 'talking'
    const isDue =
      row.status !== 'cancelled' && call.process_transcript === 1 && (await store.lines(call.id)).length > 0
    const ended: CallRow = {
      ...call,
      state: 'ended',
      ended_at: at,
      follow_up: isDue ? 'due' : 'none',
      // A call that came to nothing may be made again.
      dedup_label: wasSpokenIn ? call.dedup_label : null,
    }
    const { dedup_label, follow_up } = ended
    if (!(await store.close(call.id, { ended_at: at, follow_up, dedup_label }))) return
    // What was said stands in the response now.
    await store.removeLines(call.id)
    tx.onCommitted(() => {
      if (call.provider_call_id !== null && call.is_over === 0) hangUp(ended)
      for (const act of closed) act(ended)
    })
  }

  async function endIn(tx: Tx, call: CallRow, outcome: Outcome, detail: string | null): Promise<boolean> {
    const [row, lines] = await Promise.all([
      executionStore(tx).byId(call.execution_id),
      callStore(tx).lines(call.id),
    ])
    if (!row) return false
    if (outcome === 'refused') await callStore(tx).uncount(call.id)
    const ended = await settle(tx, row, { statuses: ['running'] }, endingOf(outcome, lines, detail))
    return ended !== null
  }

  function hangUp(call: CallRow): void {
    const { provider_call_id, auth_token } = call
    if (provider_call_id === null || auth_token === null) return
    const asked = Promise.resolve()
      .then(() => telephony.hangUp(accountOf(vault, { ...call, auth_token }), provider_call_id))
      // The provider ends it by itself when its sound ends, and at its longest time in any case.
      .catch((error: unknown) => log.warn({ call_id: call.id, err: error }, 'a call could not be hung up'))
      .finally(() => asking.delete(asked))
    asking.add(asked)
  }

  return {
    hangUp,
    async end(callId, outcome, detail = null) {
      return db.atomically(async (tx) => {
        const call = await callStore(tx).find(callId)
        return call !== null && call.state !== 'ended' && endIn(tx, call, outcome, detail)
      })
    },
    async endOpenIn(tx, agentId, outcome) {
      for (const call of await callStore(tx).openOf(agentId)) await endIn(tx, call, outcome, null)
    },
    onClosed: (act) => void closed.push(act),
    async settled() {
      while (asking.size > 0) await Promise.all(asking)
    },
  }
}
