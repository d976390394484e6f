import type { SlackConnection } from '@roost/contracts/conversations/slack'
import type { Settings } from '../../foundation/settings/index.ts'
import type { SealedColumn, Vault } from '../../foundation/vault/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import { type Secret, secret } from '../../kit/secret.ts'
import { type ChatPlatform, ChatPlatformDown } from '../../ports/chat-platform/port.ts'
import type { Db } from '../../ports/database/port.ts'
import { slackStore } from './store.ts'

export type ConnectionDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Pick<Vault, 'seal' | 'open'>
  platform: Pick<ChatPlatform, 'whoAmI'>
  settings: Pick<Settings, 'noteSlackWorkspace'>
}

export type Connection = {
  view(): Promise<SlackConnection>
  /** Throws `validation_error` for a token that Slack refuses, `upstream_error`. */
  put(secrets: { signing_secret: string; bot_token: string }): Promise<SlackConnection>
  remove(): Promise<SlackConnection>
  /** The values that verify Slack's requests; null while Slack is not connected. */
  credentials(): Promise<{ signingSecret: string; botUserId: string } | null>
  /** Null while Slack is not connected. */
  botToken(): Promise<Secret | null>
}

const disconnected: SlackConnection = { configured: false, workspace_name: null, bot_user: null }
const contexts = { signingSecret: 'slack:signing-secret', botToken: 'slack:bot-token' }

/** Reads the single row on every call, because another process may have changed it. */
export function createConnection({ db, clock, vault, platform, settings }: ConnectionDeps): Connection {
  const store = slackStore(db)
  return {
    async view() {
      const row = await store.connection()
      return row
        ? { configured: true, workspace_name: row.workspace_name, bot_user: row.bot_user }
        : disconnected
    },

    async put({ signing_secret, bot_token }) {
      const lookup = await orUpstream(platform.whoAmI(secret(bot_token)))
      if (!lookup.ok) throw invalidField(['bot_token'], `is refused by Slack (${lookup.code})`)
      const { teamId, workspaceName, botUserId, botUser } = lookup.identity
      await store.putConnection({
        team_id: teamId,
        workspace_name: workspaceName,
        bot_user_id: botUserId,
        bot_user: botUser,
        sealed_signing_secret: vault.seal(signing_secret, contexts.signingSecret),
        sealed_bot_token: vault.seal(bot_token, contexts.botToken),
        updated_at: timestamp(clock.now()),
      })
      await settings.noteSlackWorkspace(workspaceName)
      return { configured: true, workspace_name: workspaceName, bot_user: botUser }
    },

    async remove() {
      await db.atomically(async (tx) => {
        await slackStore(tx).removeConnection()
        // Without a token these posts can never be sent.
        await slackStore(tx).dropUnsent()
      })
      await settings.noteSlackWorkspace(null)
      return disconnected
    },

    async credentials() {
      const row = await store.connection()
      if (!row) return null
      return {
        signingSecret: vault.open(row.sealed_signing_secret, contexts.signingSecret),
        botUserId: row.bot_user_id,
      }
    },

    async botToken() {
      const row = await store.connection()
      return row ? secret(vault.open(row.sealed_bot_token, contexts.botToken)) : null
    },
  }
}

/** Turns an unreachable Slack into `upstream_error`, for calls that a person waits for. */
export async function orUpstream<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (cause) {
    if (!(cause instanceof ChatPlatformDown)) throw cause
    throw new Fault('upstream_error', 'Slack does not answer at the moment.', {}, { cause })
  }
}

export const sealedColumns: SealedColumn[] = [
  {
    table: 'slack_connections',
    column: 'sealed_signing_secret',
    key: ['id'],
    context: () => contexts.signingSecret,
  },
  { table: 'slack_connections', column: 'sealed_bot_token', key: ['id'], context: () => contexts.botToken },
]
