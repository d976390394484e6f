import { listReplicas } from '@roost/contracts/operations/replicas'
import { clientCommand } from './client/client-command.ts'
import { table, time } from './client/output.ts'

const shownCommitLength = 10

export const replicas = clientCommand('replicas', {
  parameters: '',
  summary: 'List the processes of the installation and what each one leads, for admins.',
  async run({ api, print }) {
    const list = await api.call(listReplicas, {})
    print(list, () => {
      const rows = table(
        ['role', 'host', 'pid', 'version', 'commit', 'schema', 'state', 'started', 'last heartbeat', 'leads'],
        list.replicas.map((replica) => [
          replica.role,
          replica.host_name,
          String(replica.process_id),
          replica.version,
          replica.git_commit?.slice(0, shownCommitLength) ?? '',
          replica.schema_version?.slice(0, 4) ?? '',
          replica.state,
          time(replica.started_at),
          time(replica.last_heartbeat_at),
          replica.leases.length === 0 ? '' : `${replica.leases.length}`,
        ]),
      )
      const leases = list.replicas.flatMap((replica) =>
        replica.leases.map((lease) => [
          lease.name,
          `${replica.role} ${replica.host_name} ${replica.process_id}`,
          time(lease.since),
          time(lease.until),
        ]),
      )
      const led = leases.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1))
      return [
        rows,
        ...(list.versions.length > 1 ? ['', `Versions differ: ${list.versions.join(', ')}.`] : []),
        ...(led.length > 0 ? ['', table(['leads', 'replica', 'since', 'until'], led)] : []),
      ].join('\n')
    })
    return 0
  },
})
