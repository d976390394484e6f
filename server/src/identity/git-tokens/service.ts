import type { SealedColumn, Vault } from '../../foundation/vault/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { type Secret, secret } from '../../kit/secret.ts'
import type { Db } from '../../ports/database/port.ts'
import { gitTokenStore } from './store.ts'

export type GitTokens = {
  isConfigured(userId: string): Promise<boolean>
  /** True if the platform has a token for people without their own. */
  hasGlobal(): boolean
  put(userId: string, token: string): Promise<void>
  remove(userId: string): Promise<void>
  /** Returns null if the person has none. Throws `VaultError`. */
  tokenOf(userId: string): Promise<Secret | null>
}

const contextOf = (userId: string) => `git-token:${userId}`

export function createGitTokens(deps: {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Pick<Vault, 'seal' | 'open'>
  hasGlobal(): boolean
}): GitTokens {
  const { clock, vault, hasGlobal } = deps
  const store = gitTokenStore(deps.db)
  return {
    isConfigured: async (userId) => (await store.sealedOf(userId)) !== null,
    hasGlobal,
    put: (userId, token) =>
      store.put({
        user_id: userId,
        sealed: vault.seal(token, contextOf(userId)),
        updated_at: timestamp(clock.now()),
      }),
    remove: (userId) => store.remove(userId),
    async tokenOf(userId) {
      const sealed = await store.sealedOf(userId)
      return sealed === null ? null : secret(vault.open(sealed, contextOf(userId)))
    },
  }
}

export const sealedColumns: SealedColumn[] = [
  {
    table: 'git_tokens',
    column: 'sealed',
    key: ['user_id'],
    context: ({ user_id = '' }) => contextOf(user_id),
  },
]
