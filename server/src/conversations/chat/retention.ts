import type { Loop } from '../../background/loops.ts'
import { createSweep, type SweepDeps } from '../../foundation/settings/index.ts'
import { strangerSessionStore } from './retention-store.ts'

/** Setting: days after the last message until conversations of people without an account are deleted. */
export const visitorRetentionKey = 'public_chat_retention_days'

/** Deletes inactive conversations of visitors and payers, who cannot delete them later. */
export function visitorRetention(deps: SweepDeps): Loop {
  const { db } = deps
  return createSweep(deps, {
    name: 'chat.strangers-retention',
    what: 'conversations of visitors without an account',
    key: visitorRetentionKey,
    countBefore: strangerSessionStore(db).countBefore,
    countAll: strangerSessionStore(db).countAll,
    removeBefore: (before, limit) =>
      db.atomically((tx) => strangerSessionStore(tx).removeBefore(before, limit)),
  })
}
