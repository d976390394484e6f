import { hostname } from 'node:os'
import type { ReplicaRole } from '@roost/contracts/operations/replicas'
import type { ReplicaDescription } from '../foundation/replicas/index.ts'
import { type Clock, timestamp } from '../kit/clock.ts'
import { newId } from '../kit/ids.ts'
import { migrations } from '../migrations/index.ts'
import { readCode } from './upgrade-database.ts'

/** Describes this process for the list of replicas, under a new id. */
export async function describeReplica(
  role: ReplicaRole,
  clock: Pick<Clock, 'now'>,
): Promise<ReplicaDescription> {
  const { version, commit } = await readCode()
  return {
    id: newId(),
    role,
    host_name: hostname(),
    process_id: process.pid,
    version,
    git_commit: commit,
    schema_version:
      migrations
        .map(({ name }) => name)
        .sort()
        .at(-1) ?? null,
    agent_address: null,
    engine_id: null,
    started_at: timestamp(clock.now()),
  }
}
