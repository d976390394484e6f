import { ContainerError } from '../port.ts'
import type { Api } from './api.ts'
import { ApiRefusal, isStatus } from './faults.ts'
import { type ContainerRecord, idLabel, ownLabels } from './record.ts'

export type SshSettings = {
  /** Whether each agent gets a Service that opens its SSH port on every node. */
  sshNodePorts: boolean
}

/** Services with the SSH ports of containers, if the operator wants them. */
export type SshServices = {
  /** Opens the port. Throws port_taken when another Service uses it. No-op when the Service exists. */
  publish(record: ContainerRecord): Promise<void>
  withdraw(record: ContainerRecord): Promise<void>
}

export const sshPort = 22

export function createSshServices(deps: { api: Api; install: string; settings: SshSettings }): SshServices {
  const { api, install } = deps
  const portOf = ({ spec }: ContainerRecord) =>
    deps.settings.sshNodePorts && !spec.isClosed ? (spec.ssh?.port ?? null) : null

  return {
    async publish(record) {
      const nodePort = portOf(record)
      if (nodePort === null) return
      try {
        await api.create('services', serviceFor(record, install, nodePort))
      } catch (error) {
        if (isStatus(error, 409)) return
        throw explain(error, nodePort)
      }
    },
    // Deleted by name instead of with its owner, because its port must be free at once.
    async withdraw(record) {
      if (portOf(record) === null) return
      await api.delete('services', serviceName(record)).catch((error: unknown) => {
        if (!isStatus(error, 404)) throw error
      })
    },
  }
}

function serviceFor(record: ContainerRecord, install: string, nodePort: number) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: serviceName(record),
      labels: { ...ownLabels(install), [idLabel]: record.id },
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Secret', name: record.secret.name, uid: record.secret.uid },
      ],
    },
    spec: {
      type: 'NodePort',
      selector: { [idLabel]: record.id },
      ports: [{ name: 'ssh', port: sshPort, targetPort: sshPort, nodePort }],
    },
  }
}

/** At most 63 characters, and it starts with a letter. */
const serviceName = ({ id }: ContainerRecord) => `roost-ssh-${id}`

function explain(error: unknown, port: number): unknown {
  if (!(error instanceof ApiRefusal) || error.status !== 422) return error
  if (/already allocated/.test(error.message))
    return new ContainerError('port_taken', `the node port ${port} belongs to another Service`, {
      cause: error,
    })
  if (/valid ports/.test(error.message))
    return new ContainerError(
      'engine_fault',
      `the cluster offers no node port ${port}: ROOST_SSH_PORT_RANGE must lie in its range, by default 30000-32767`,
      { cause: error },
    )
  return error
}
