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
   * Ends a call once, together with its execution. `detail` is the provider's message. Returns false when the call had
   * already ended.
   */
  end(callId: string, outcome: Outcome, detail?: string | null): Promise<boolean>
  /** Ends every open call of the agent. */
  endOpenCalls(tx: Tx, agentId: string, outcome: Outcome): Promise<void>
  /** Asks the provider to end a call that has ended here. Failures are only logged. */
  hangUp(call: CallRow): void
  /** Registers a listener that runs after the commit that ends a call. */
  onEnded(listener: (call: CallRow) => void): void
  /** Resolves when the provider has answered all hang-up requests. */
  idle(): Promise<void>
}

/** The only way to end a call. The execution decides: whatever ends it also ends the call, in the same transaction. */
export function createEnd({ db, log, vault, telephony, settle, hooks }: EndDeps): End {
  const listeners: ((call: CallRow) => void)[] = []
  const pending = new Set<Promise<void>>()

  hooks.onEnded(async (tx, row, now) => {
    if (row.triggered_by !== 'voip') return
    const call = await callStore(tx).ofExecution(row.id)
    if (call) await closeCall(tx, call, { row, at: timestamp(now) })
  })

  async function closeCall(tx: Tx, call: CallRow, { row, at }: { row: ExecutionRow; at: string }) {
    const store = callStore(tx)
    const wasConnected = call.state === 'talking'
    const needsFollowUp =
      row.status !== 'cancelled' && call.process_transcript === 1 && (await store.lines(call.id)).length > 0
    const ended: CallRow = {
      ...call,
      state: 'ended',
      ended_at: at,
      follow_up: needsFollowUp ? 'due' : 'none',
      // A call that failed frees its label.
      dedup_label: wasConnected ? call.dedup_label : null,
    }
    const { dedup_label, follow_up } = ended
    if (!(await store.close(call.id, { ended_at: at, follow_up, dedup_label }))) return
    // The response of the execution contains the transcript now.
    await store.removeLines(call.id)
    tx.onCommitted(() => {
      if (call.provider_call_id !== null && call.is_over === 0) hangUp(ended)
      for (const listener of listeners) listener(ended)
    })
  }

  async function endCall(tx: Tx, call: CallRow, outcome: Outcome, detail: string | null): Promise<boolean> {
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
    const request = Promise.resolve()
      .then(() => telephony.hangUp(accountOf(vault, { ...call, auth_token }), provider_call_id))
      // The provider ends the call anyway: when its media stream ends, or at the maximum duration.
      .catch((error: unknown) => log.warn({ call_id: call.id, err: error }, 'a call could not be hung up'))
      .finally(() => pending.delete(request))
    pending.add(request)
  }

  return {
    hangUp,
    async end(callId, outcome, detail = null) {
      return db.atomically(async (tx) => {
        const call = await callStore(tx).find(callId)
        return call !== null && call.state !== 'ended' && endCall(tx, call, outcome, detail)
      })
    },
    async endOpenCalls(tx, agentId, outcome) {
      for (const call of await callStore(tx).openOf(agentId)) await endCall(tx, call, outcome, null)
    },
    onEnded: (listener) => void listeners.push(listener),
    async idle() {
      while (pending.size > 0) await Promise.all(pending)
    },
  }
}
