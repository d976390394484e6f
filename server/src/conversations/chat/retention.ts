import type { Loop } from '../../background/loops.ts'
import { createSweep, type SweepDeps } from '../../foundation/settings/index.ts'
import { strangersStore } from './retention-store.ts'

/** Days for which conversations of people without an account are kept after their last message. */
export const strangersKey = 'public_chat_retention_days'

/** Removes conversations of visitors and payers who have not come back: nobody else has a way to end them. */
export function strangersRetention(deps: SweepDeps): Loop {
  const { db } = deps
  return createSweep(deps, {
    name: 'chat.strangers-retention',
    what: 'conversations of visitors without an account',
    key: strangersKey,
    countBefore: strangersStore(db).countBefore,
    countAll: strangersStore(db).countAll,
    removeBefore: (before, limit) => db.atomically((tx) => strangersStore(tx).removeBefore(before, limit)),
  })
}
