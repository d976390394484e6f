import { sealedColumns as ofAgentCredentials } from '../../agents/credentials/index.ts'
import { sealedColumns as ofEgress } from '../../agents/egress/index.ts'
import { sealedColumns as ofAgentGit } from '../../agents/git/index.ts'
import { sealedColumns as ofLifecycle } from '../../agents/lifecycle/index.ts'
import { sealedColumns as ofCalls } from '../../conversations/calls/index.ts'
import { sealedColumns as ofCanvas } from '../../conversations/canvas/index.ts'
import { sealedColumns as ofPaid } from '../../conversations/paid/index.ts'
import { sealedColumns as ofPublic } from '../../conversations/public/index.ts'
import { sealedColumns as ofSlack } from '../../conversations/slack/index.ts'
import { sealedColumns as ofSettings } from '../../foundation/settings/index.ts'
import { sealedColumns as ofVault, type SealedColumn } from '../../foundation/vault/index.ts'
import { sealedColumns as ofGitTokens } from '../../identity/git-tokens/index.ts'
import { sealedColumns as ofSecondFactor } from '../../identity/second-factor/index.ts'
import { sealedColumns as ofProviderSubscriptions } from '../../runs/provider-subscriptions/index.ts'
import { sealedColumns as ofWebhooks } from '../../triggers/webhooks/index.ts'
import { sealedColumns as ofPush } from '../push/index.ts'
import { sealedColumns as ofScheduledBackups } from '../scheduled-backups/index.ts'

/** Every column with sealed text. */
export const sealedColumns: readonly SealedColumn[] = [
  ...ofVault,
  ...ofSettings,
  ...ofGitTokens,
  ...ofSecondFactor,
  ...ofLifecycle,
  ...ofAgentCredentials,
  ...ofAgentGit,
  ...ofEgress,
  ...ofProviderSubscriptions,
  ...ofWebhooks,
  ...ofPublic,
  ...ofPaid,
  ...ofCalls,
  ...ofCanvas,
  ...ofSlack,
  ...ofPush,
  ...ofScheduledBackups,
]
