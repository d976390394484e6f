import { signatureHeader, timestampHeader, type Webhook } from '@roost/contracts/triggers/webhooks'
import type { SealedColumn, Vault } from '../../foundation/vault/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newSecretText } from '../../kit/ids.ts'
import type { Db } from '../../ports/database/port.ts'
import { tokenHash } from './rules.ts'
import { type WebhookRow, webhookStore } from './store.ts'

export type ManageDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Pick<Vault, 'seal' | 'open'>
  baseUrl: string
}

/** Manages the webhook of one schedule; all throw `schedule_not_found`. */
export type ManageWebhooks = {
  find(agentId: string, scheduleId: string): Promise<Webhook>
  /** Creates a new token, and deletes the older one with its secret. */
  create(agentId: string, scheduleId: string): Promise<Webhook>
  revoke(agentId: string, scheduleId: string): Promise<void>
  /** Returns the secret, only this time. Throws `secret_without_token`. */
  createSecret(agentId: string, scheduleId: string, signsTime: boolean): Promise<Webhook>
  deleteSecret(agentId: string, scheduleId: string): Promise<Webhook>
}

const noSecret = { webhook_secret_sealed: null, webhook_signs_time: 0 }

export function createManageWebhooks({ db, clock, vault, baseUrl }: ManageDeps): ManageWebhooks {
  const store = webhookStore(db)

  function describe(row: WebhookRow, secret?: string): Webhook {
    const token =
      row.webhook_token_sealed === null ? null : vault.open(row.webhook_token_sealed, tokenContext(row.id))
    const hasSecret = row.webhook_secret_sealed !== null
    return {
      schedule_id: row.id,
      has_token: token !== null,
      webhook_enabled: token !== null,
      webhook_url: token === null ? null : `${baseUrl}/api/webhooks/${token}`,
      auth_enabled: hasSecret,
      has_secret: hasSecret,
      ...(secret === undefined ? {} : { signing_secret: secret }),
      signature_header: signatureHeader,
      requires_timestamp: row.webhook_signs_time === 1,
      timestamp_header: timestampHeader,
      created_at: row.webhook_created_at,
      last_called_at: row.webhook_last_called_at,
    }
  }

  const existing = (row: WebhookRow | null): WebhookRow => {
    if (!row) throw new Fault('schedule_not_found')
    return row
  }

  return {
    find: async (agentId, id) => describe(existing(await store.find(agentId, id))),

    async create(agentId, id) {
      const token = newSecretText()
      const row = await store.update(agentId, id, {
        ...noSecret,
        webhook_token_hash: tokenHash(token),
        webhook_token_sealed: vault.seal(token, tokenContext(id)),
        webhook_created_at: timestamp(clock.now()),
        webhook_last_called_at: null,
      })
      return describe(existing(row))
    },

    async revoke(agentId, id) {
      const row = await store.update(agentId, id, {
        ...noSecret,
        webhook_token_hash: null,
        webhook_token_sealed: null,
        webhook_created_at: null,
        webhook_last_called_at: null,
      })
      existing(row)
    },

    async createSecret(agentId, id, signsTime) {
      const secret = `whsec_${newSecretText()}`
      const row = await store.updateLive(agentId, id, {
        webhook_secret_sealed: vault.seal(secret, secretContext(id)),
        webhook_signs_time: signsTime ? 1 : 0,
      })
      if (row) return describe(row, secret)
      existing(await store.find(agentId, id))
      throw new Fault('secret_without_token')
    },

    deleteSecret: async (agentId, id) => describe(existing(await store.update(agentId, id, noSecret))),
  }
}

function tokenContext(scheduleId: string): string {
  return `webhook-token:${scheduleId}`
}

/** The context under which the secret of a schedule is sealed. */
export function secretContext(scheduleId: string): string {
  return `webhook-secret:${scheduleId}`
}

export const sealedColumns: SealedColumn[] = [
  {
    table: 'schedules',
    column: 'webhook_token_sealed',
    key: ['id'],
    context: ({ id = '' }) => tokenContext(id),
  },
  {
    table: 'schedules',
    column: 'webhook_secret_sealed',
    key: ['id'],
    context: ({ id = '' }) => secretContext(id),
  },
]
