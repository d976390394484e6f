import type { GitState } from '@roost/contracts/link/git'
import type { AlertKind, PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Agent } from '../records/index.ts'
import { credentialAlert, failingAlert } from './alerts.ts'
import type { Frozen } from './frozen.ts'
import { afterEnd, type Ended, failuresThatCount, seenPatch, syncStateOf } from './rules.ts'
import { type GitPatch, gitStore } from './store.ts'
import type { AgentGitRow } from './tables.ts'

export type RecordDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  frozen: Pick<Frozen, 'forget'>
  raiseAlert(tx: Tx, alert: PlatformAlert): Promise<void>
  clearAlert(tx: Tx, agentId: string, kind: AlertKind): Promise<void>
}

/** `ended`: null when nothing was tried. `state`: null when nothing was seen. */
export type Settled = { ended: Ended | null; state: GitState | null; more?: GitPatch }

export type Settle = (agent: Agent, what: Settled) => Promise<void>

/** Writes down how git's work ended, and tells operators and clients of a change. */
export function createSettle(deps: RecordDeps): Settle {
  const { db, clock, events, frozen, raiseAlert, clearAlert } = deps

  async function tell(
    tx: Tx,
    agent: Agent,
    { before, row, now }: { before: AgentGitRow; row: AgentGitRow; now: Date },
  ) {
    if (row.consecutive_failures >= failuresThatCount) {
      if (row.consecutive_failures > before.consecutive_failures)
        await raiseAlert(tx, failingAlert(agent, row))
    } else if (before.consecutive_failures >= failuresThatCount) {
      await clearAlert(tx, agent.id, 'sync_failing')
    }
    const [was, is] = [syncStateOf(before, now), syncStateOf(row, now)]
    if (was.state === is.state && was.consecutive_failures === is.consecutive_failures) return
    tx.onCommitted(frozen.forget)
    const { state, last_sync_status, consecutive_failures } = is
    const fields = { state, last_sync_status, consecutive_failures }
    const named = { agent_names: [agent.name], agent_ids: [agent.id] }
    await events.append(tx, { type: 'git.sync_changed', ...named, fields }, now)
  }

  return async (agent, { ended, state, more = {} }) => {
    await db.atomically(async (tx) => {
      const store = gitStore(tx)
      const before = await store.of(agent.id)
      if (!before) return
      const now = clock.now()
      const at = timestamp(now)
      const patch = {
        ...(state ? seenPatch(state, at) : {}),
        ...(ended ? afterEnd(before, ended, at) : {}),
        ...more,
      }
      if (Object.keys(patch).length === 0) return
      await store.update(agent.id, patch)
      await tell(tx, agent, { before, row: { ...before, ...patch }, now })
      if (state?.has_credential) await raiseAlert(tx, credentialAlert(agent))
      else if (state?.is_repository) await clearAlert(tx, agent.id, 'remote_credential')
    })
  }
}
