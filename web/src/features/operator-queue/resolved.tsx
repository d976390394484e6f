import { resolved } from '@roost/contracts/operations/operator-queue'
import { Inbox } from './inbox.tsx'

/** Answered, dismissed and expired items. */
export function Resolved() {
  return <Inbox usual={resolved} />
}
