import { resolved } from '@roost/contracts/operations/operator-queue'
import { Inbox } from './inbox.tsx'

/** What agents and the platform asked people, once it waits no more. */
export function Resolved() {
  return <Inbox usual={resolved} />
}
