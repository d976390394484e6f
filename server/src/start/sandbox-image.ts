import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ContainerError } from '../ports/containers/port.ts'

const root = resolve(import.meta.dirname, '../../..')

/**
 * Returns what a sandbox sees of this machine besides system folders: the agent program and contracts of the
 * repository, Node, and the runtime's CLI (`folder`, built by the agent images).
 */
export function sandboxImage(folder: string) {
  if (!existsSync(join(folder, 'bin'))) return null
  const isRoot = process.geteuid?.() === 0
  if (isRoot) assertReadable()
  const node = dirname(process.execPath)
  // Without a signal that opens the debugger, which would give its caller this program's rights.
  const program = ['node', '--disable-sigusr1', '/opt/roost/agent/src/start.ts']
  // As root the program has its own user and keeps the rights to run each person's turns as another one.
  const asProgram = [
    'setpriv',
    ...['--reuid', '900', '--regid', '1000', '--groups', '900,901,902,903,1001'],
    ...['--inh-caps=+setuid,+setgid,+chown', '--ambient-caps=+setuid,+setgid,+chown'],
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
    command: isRoot ? [...asProgram, ...program] : program,
    env: { PATH: '/opt/runtime/bin:/opt/node:/usr/local/bin:/usr/bin:/bin' },
  }
}

/** Throws if agents of a platform that runs as root cannot read the repository (strict umask). */
function assertReadable(): void {
  const needed = ['agent', 'contracts', 'package.json', 'node_modules']
  const unreadable = needed.find((path) => (statSync(join(root, path)).mode & 0o4) === 0)
  if (unreadable === undefined) return
  const command = `cd ${root} && chmod -R go+rX ${needed.join(' ')}`
  throw new ContainerError(
    'engine_fault',
    `agents cannot read ${join(root, unreadable)}; open it with: ${command}`,
  )
}
