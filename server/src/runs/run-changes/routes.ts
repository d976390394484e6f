import { getRunChanges, getRunDiff } from '@roost/contracts/agents/workspace-history'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { HistoryReader } from '../../agents/history/index.ts'
import type { AgentRecords } from '../../agents/records/index.ts'
import { ownsSecrets } from '../../agents/workspace/index.ts'
import { type Route, signedInRoute } from '../../http/route.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { executionStore, maySee } from '../executions/index.ts'

export type RunChangesDeps = {
  db: Db
  agentRecords: Pick<AgentRecords, 'byId'>
  agentAccess: Pick<AgentAccess, 'relationTo'>
  history: Pick<HistoryReader, 'runChanges' | 'runDiff'>
}

export function runChangesRoutes({ db, agentRecords, agentAccess, history }: RunChangesDeps): Route[] {
  /** As for the files of the agent: nothing for guests, no credentials for people it is shared with. */
  async function readingOf(caller: SignedIn, id: string) {
    const run = await executionStore(db).byId(id)
    const agent = run && (await agentRecords.byId(run.agent_id))
    const relation = agent && (await agentAccess.relationTo(caller, agent))
    if (!relation || relation === 'guest' || !maySee(caller, relation, run))
      throw new Fault('execution_not_found')
    return { agent, isOwner: ownsSecrets(relation) }
  }

  return [
    signedInRoute(getRunChanges, async ({ caller, params, query }) => {
      const reading = await readingOf(caller, params.id)
      const changes = await history.runChanges(reading, params.id, query)
      return { ...changes, agent_name: reading.agent.name }
    }),
    signedInRoute(getRunDiff, async ({ caller, params, query }) =>
      history.runDiff(await readingOf(caller, params.id), params.id, query),
    ),
  ]
}
