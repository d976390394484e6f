import type { Migration } from '../ports/database/port.ts'
import { foundation } from './0001-foundation.ts'
import { identity } from './0002-identity.ts'
import { agents } from './0003-agents.ts'
import { runs } from './0004-runs.ts'
import { conversations } from './0005-conversations.ts'
import { fanOuts } from './0006-fan-outs.ts'
import { breakers } from './0007-breakers.ts'
import { tasks } from './0008-tasks.ts'
import { runFigures } from './0009-run-figures.ts'
import { sockets } from './0010-sockets.ts'
import { agentPermissions } from './0011-agent-permissions.ts'
import { accounts } from './0012-accounts.ts'
import { auditReads } from './0013-audit-reads.ts'
import { schedules } from './0014-schedules.ts'
import { fires } from './0015-fires.ts'
import { loops } from './0016-loops.ts'
import { eventsAndReminders } from './0017-events-and-reminders.ts'
import { operatorQueue } from './0018-operator-queue.ts'
import { workspaceChat } from './0019-workspace-chat.ts'
import { engineTuning } from './0020-engine-tuning.ts'
import { access } from './0021-access.ts'
import { credentials } from './0022-credentials.ts'
import { sharedFolders } from './0023-shared-folders.ts'
import { git } from './0024-git.ts'
import { skills } from './0025-skills.ts'
import { egress } from './0026-egress.ts'
import { messages } from './0027-messages.ts'
import { monitoring } from './0028-monitoring.ts'
import { providerSubscriptions } from './0029-provider-subscriptions.ts'
import { gitChanges } from './0031-git-changes.ts'
import { spendCaps } from './0032-spend-caps.ts'
import { publicChat } from './0033-public-chat.ts'
import { paidChat } from './0034-paid-chat.ts'
import { voice } from './0035-voice.ts'
import { calls } from './0036-calls.ts'
import { canvas } from './0037-canvas.ts'
import { slack } from './0038-slack.ts'
import { subscriptionHomes } from './0041-subscription-homes.ts'
import { strangersRetention } from './0045-strangers-retention.ts'
import { workspaceRatings } from './0046-workspace-ratings.ts'
import { costEstimates } from './0047-cost-estimates.ts'
import { idempotencyResources } from './0048-idempotency-resources.ts'
import { messageTurns } from './0049-message-turns.ts'
import { containerRuntime } from './0050-container-runtime.ts'
import { agentDisk } from './0052-agent-disk.ts'
import { principals } from './0054-principals.ts'
import { disabledReasons } from './0056-disabled-reasons.ts'
import { retiredKeys } from './0082-retired-keys.ts'
import { backupSettings } from './0083-backup-settings.ts'
import { installation } from './0086-installation.ts'
import { runRetention } from './0087-run-retention.ts'
import { containerWaiting } from './0088-container-waiting.ts'
import { replicas } from './0089-replicas.ts'
import { engineIdentity } from './0090-engine-identity.ts'
import { runCosts } from './0091-run-costs.ts'
import { demo } from './0092-demo.ts'
import { runFind } from './0093-run-find.ts'
import { sharedConversations } from './0094-shared-conversations.ts'
import { push } from './0095-push.ts'
import { publicGreetings } from './0096-public-greetings.ts'
import { modelCalls } from './0097-model-calls.ts'
import { workspaceRecords } from './0098-workspace-records.ts'
import { workspaceRestores } from './0099-workspace-restores.ts'
import { workspaceBases } from './0100-workspace-bases.ts'
import { forks } from './0101-forks.ts'
import { attempts } from './0102-attempts.ts'
import { formerWorkspaces } from './0103-former-workspaces.ts'
import { openRunRecords } from './0104-open-run-records.ts'
import { transcriptLimits } from './0105-transcript-limits.ts'
import { validationPrincipals } from './0106-validation-principals.ts'
import checksums from './checksums.json' with { type: 'json' }

const checksumOf = new Map<string, string>(Object.entries(checksums))

const inThisVersion: Migration[] = [
  foundation,
  identity,
  agents,
  runs,
  conversations,
  fanOuts,
  breakers,
  tasks,
  runFigures,
  sockets,
  agentPermissions,
  accounts,
  auditReads,
  schedules,
  fires,
  loops,
  eventsAndReminders,
  operatorQueue,
  workspaceChat,
  engineTuning,
  access,
  credentials,
  sharedFolders,
  git,
  skills,
  egress,
  messages,
  monitoring,
  providerSubscriptions,
  gitChanges,
  spendCaps,
  publicChat,
  paidChat,
  voice,
  calls,
  canvas,
  slack,
  subscriptionHomes,
  strangersRetention,
  workspaceRatings,
  costEstimates,
  idempotencyResources,
  messageTurns,
  containerRuntime,
  agentDisk,
  principals,
  disabledReasons,
  retiredKeys,
  backupSettings,
  installation,
  runRetention,
  containerWaiting,
  replicas,
  engineIdentity,
  runCosts,
  demo,
  runFind,
  sharedConversations,
  push,
  publicGreetings,
  modelCalls,
  workspaceRecords,
  workspaceRestores,
  workspaceBases,
  forks,
  attempts,
  formerWorkspaces,
  openRunRecords,
  transcriptLimits,
  validationPrincipals,
]

/**
 * All migrations, applied in the order of their names. `node checks/reference.ts --write` writes their checksums:
 * one that was released must never change.
 */
export const migrations: Migration[] = inThisVersion.map((migration) => ({
  ...migration,
  checksum: checksumOf.get(migration.name),
}))
