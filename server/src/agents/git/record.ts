import type { GitState } from '@roost/contracts/link/git'
import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { Alerts } from '../../foundation/alerts/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Agent } from '../records/index.ts'
import type { Frozen } from './frozen.ts'
import { afterEnd, type Ended, failureThreshold, isFrozen, observedPatch, syncStateOf } from './rules.ts'
import { type GitPatch, gitStore } from './store.ts'
import type { AgentGitRow } from './tables.ts'

export type RecordDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  frozen: Pick<Frozen, 'forget'>
  alerts: Pick<Alerts, 'raise' | 'clear'>
}

/** `ended` is null if nothing was attempted, `state` if nothing was observed. */
export type Settled = { ended: Ended | null; state: GitState | null; more?: GitPatch }

export type Settle = (agent: Agent, what: Settled) => Promise<void>

/** Records the result of git's work and reports changes to operators and clients. */
export function createSettle(deps: RecordDeps): Settle {
  const { db, clock, events, frozen, alerts } = deps

  async function report(
    tx: Tx,
    agent: Agent,
    { before, row, now }: { before: AgentGitRow; row: AgentGitRow; now: Date },
  ) {
    if (row.consecutive_failures >= failureThreshold) {
      if (row.consecutive_failures > before.consecutive_failures)
        await alerts.raise(tx, failingAlert(agent, row))
    } else if (before.consecutive_failures >= failureThreshold) {
      await alerts.clear(tx, agent.id, 'sync_failing')
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
        ...(state ? observedPatch(state, at) : {}),
        ...(ended ? afterEnd(before, ended, at) : {}),
        ...more,
      }
      if (Object.keys(patch).length === 0) return
      await store.update(agent.id, patch)
      await report(tx, agent, { before, row: { ...before, ...patch }, now })
      if (state?.has_credential) await alerts.raise(tx, credentialAlert(agent))
      else if (state?.is_repository) await alerts.clear(tx, agent.id, 'remote_credential')
    })
  }
}

function failingAlert(agent: Agent, row: AgentGitRow): PlatformAlert {
  return {
    agentId: agent.id,
    kind: 'sync_failing',
    title: `The agent "${agent.name}" cannot be synced with its repository`,
    question: `${row.consecutive_failures} syncs in a row failed: ${row.last_error ?? 'unknown'}. Its schedules ${row.freeze_schedules ? 'are paused' : 'continue'} until one succeeds.`,
    priority: 'high',
    context: {
      repository: row.repository,
      consecutive_failures: row.consecutive_failures,
      last_error: row.last_error,
      frozen: isFrozen(row),
    },
  }
}

function credentialAlert(agent: Agent): PlatformAlert {
  return {
    agentId: agent.id,
    kind: 'remote_credential',
    title: `A git address in the workspace of "${agent.name}" contains a credential`,
    question: 'Remove it from .git/config and revoke the token: every process in the container can read it.',
    priority: 'high',
    context: {},
  }
}
