import { listReplicas, removeReplica, reportReplica } from '@roost/contracts/operations/replicas'
import { type Route, route, signedInRoute } from '../../http/route.ts'
import type { Replicas } from './service.ts'

const noDatabase = { schema_version: null, agent_address: null, engine_id: null }

export function replicaRoutes(replicas: Pick<Replicas, 'list'>): Route[] {
  return [signedInRoute(listReplicas, () => replicas.list())]
}

/** For the internal listener. */
export function internalReplicaRoutes(replicas: Pick<Replicas, 'report' | 'remove'>): Route[] {
  return [
    route(reportReplica, async ({ params: { replica_id: id }, body }) => ({
      next_seconds: await replicas.report({ ...body, ...noDatabase, id }),
    })),
    route(removeReplica, async ({ params }) => {
      await replicas.remove(params.replica_id)
      return { status: 'removed' as const }
    }),
  ]
}
