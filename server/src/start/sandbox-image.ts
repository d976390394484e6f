import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ContainerError } from '../ports/containers/port.ts'

const root = resolve(import.meta.dirname, '../../..')

/**
 * What a sandbox sees of this machine besides its system folders: the agent program and the contracts as
 * they stand in the repository, Node, and the runtime's CLI (`folder`, made by the agent images).
 */
export function sandboxImage(folder: string) {
  if (!existsSync(join(folder, 'bin'))) return null
  const isRoot = process.geteuid?.() === 0
  if (isRoot) assertReadable()
  const node = dirname(process.execPath)
  const program = ['node', '/opt/roost/agent/src/start.ts']
  // As root the program becomes `developer` and keeps what it needs to start a read-only turn as another user.
  const asDeveloper = [
    'setpriv',
    ...['--reuid', '1000', '--regid', '1000', '--clear-groups'],
    ...['--inh-caps=+setuid,+setgid', '--ambient-caps=+setuid,+setgid'],
  ]
  return {
    readOnlyBinds: [
      { source: join(root, 'agent'), target: '/opt/roost/agent' },
      { source: join(root, 'contracts'), target: '/opt/roost/contracts' },
      { source: join(root, 'package.json'), target: '/opt/roost/package.json' },
      { source: join(root, 'node_modules'), target: '/opt/roost/node_modules' },
      { source: node, target: '/opt/node' },
      { source: folder, target: '/opt/runtime' },
    ],
    command: isRoot ? [...asDeveloper, ...program] : program,
    env: { PATH: '/opt/runtime/bin:/opt/node:/usr/local/bin:/usr/bin:/bin' },
  }
}

/** A repository that was cloned under a strict umask is closed to the agents of a platform that is root. */
function assertReadable(): void {
  const needed = ['agent', 'contracts', 'package.json', 'node_modules']
  const closed = needed.find((path) => (statSync(join(root, path)).mode & 0o4) === 0)
  if (closed === undefined) return
  const cure = `cd ${root} && chmod -R go+rX ${needed.join(' ')}`
  throw new ContainerError('engine_fault', `agents cannot read ${join(root, closed)}; open it with: ${cure}`)
}
