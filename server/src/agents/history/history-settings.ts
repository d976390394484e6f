import type { HistorySettings, HistorySettingsPatch } from '@roost/contracts/agents/workspace-history'
import { defaultHistoryRules, type HistoryRules, historyRulesFault } from '@roost/contracts/link/history'
import type { IdentityChanges } from '../../identity/access/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { historyStore } from './store.ts'
import type { HistorySettingsRow } from './tables.ts'

export type HistorySettingsService = {
  view(agentId: string): Promise<HistorySettings>
  /** Throws `admin_required` for a quota of anyone but an admin, and `validation_error`. */
  change(agentId: string, patch: HistorySettingsPatch, isAdmin: boolean): Promise<HistorySettings>
}

export function createHistorySettings({
  db,
  changes,
  clock,
  canLoseNode,
}: {
  db: Db
  changes: Pick<IdentityChanges, 'announce'>
  clock: Pick<Clock, 'now'>
  /** Whether agents run on nodes that the platform may lose. */
  canLoseNode: boolean
}): HistorySettingsService {
  const stored = async (agentId: string) => (await historyStore(db).settings(agentId)) ?? unset(agentId)

  return {
    view: async (agentId) => ({ ...viewOf(await stored(agentId)), can_lose_node: canLoseNode }),

    async change(agentId, { enabled, undo_failed, start_from_record, rules, quota_bytes }, isAdmin) {
      const before = await stored(agentId)
      if (quota_bytes !== undefined && quota_bytes !== before.quota_bytes && !isAdmin)
        throw new Fault('admin_required', 'Only an admin may change the quota of the history.')
      const row = {
        ...before,
        is_on: (enabled ?? before.is_on === 1) ? 1 : 0,
        undo_failed: (undo_failed ?? before.undo_failed === 1) ? 1 : 0,
        start_from_record: (start_from_record ?? before.start_from_record === 1) ? 1 : 0,
        rules: rules === undefined ? before.rules : rules && JSON.stringify(inBytes(rules)),
        quota_bytes: quota_bytes === undefined ? before.quota_bytes : quota_bytes,
        updated_at: clock.now().toISOString(),
      }
      await db.atomically(async (tx) => {
        const on = historyStore(tx)
        await on.putSettings(row)
        // No record comes after them any more.
        if (row.is_on === 0)
          await on.completeRuns(
            (await on.openRuns(agentId)).map(({ execution_id }) => execution_id),
            { reason: 'history_off' },
          )
      })
      changes.announce({ agent_id: agentId })
      return { ...viewOf(row), can_lose_node: canLoseNode }
    },
  }
}

const unset = (agent_id: string): HistorySettingsRow => ({
  ...{ agent_id, is_on: 1, undo_failed: 0, start_from_record: 0 },
  ...{ rules: null, quota_bytes: null, updated_at: '' },
})

function viewOf({
  is_on,
  undo_failed,
  start_from_record,
  rules,
  quota_bytes,
}: HistorySettingsRow): Omit<HistorySettings, 'can_lose_node'> {
  const shown = (bytes: HistoryRules) => ({
    patterns: bytes.patterns.map((pattern) => Buffer.from(pattern, 'latin1').toString('utf8')),
    max_file_bytes: bytes.max_file_bytes,
  })
  return {
    enabled: is_on === 1,
    undo_failed: undo_failed === 1,
    start_from_record: start_from_record === 1,
    // Written by this service.
    rules: shown(rules === null ? defaultHistoryRules : (JSON.parse(rules) as HistoryRules)),
    default_rules: shown(defaultHistoryRules),
    is_default_rules: rules === null,
    quota_bytes,
  }
}

/** Rules name bytes as characters, like the paths that they match. */
function inBytes(rules: HistoryRules): HistoryRules {
  const patterns = rules.patterns.map((pattern) => Buffer.from(pattern, 'utf8').toString('latin1'))
  const fault = historyRulesFault({ ...rules, patterns })
  if (fault) throw new Fault('validation_error', fault)
  return { ...rules, patterns }
}
