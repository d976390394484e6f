import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/**
 * Who a child process is. `developer` owns the workspace. `reader` is another user, for whom its sources
 * are not writable: read-only mode holds for shell commands too, which no hook can judge.
 */
export type Person = 'developer' | 'reader'

export type Identities = {
  /** The command that starts `command` as that person, without capabilities of this program. */
  as(person: Person, command: string, args: string[]): { command: string; args: string[] }
  /** Whether this program may start a process as the reader: a sandbox of an ordinary user may not. */
  canSwitch(): Promise<boolean>
  /** Children run as root: no other owner of the workspace is known. */
  isRoot: boolean
}

/** Uid and group of the reader. The group is shared by what both may write; the developer joins it. */
export const readerId = 1001

const setpriv = '/usr/bin/setpriv'
/** Named one by one: "all" is refused by a setpriv that is older than the kernel. */
const withoutCapabilities = ['--inh-caps=-setuid,-setgid', '--ambient-caps=-setuid,-setgid']

export type IdentityFacts = {
  uid: number
  /** Capabilities that children of this program would inherit. */
  hasAmbient: boolean
  homeOwner: { uid: number; gid: number }
  hasSetpriv: boolean
}

export function createIdentities(facts: IdentityFacts): Identities {
  const isRoot = facts.uid === 0 && facts.homeOwner.uid === 0
  const developer = developerOptions(facts)
  let probe: Promise<boolean> | null = null

  function as(person: Person, command: string, args: string[]) {
    const options = person === 'developer' ? developer : readerOptions(facts)
    return options ? { command: setpriv, args: [...options, '--', command, ...args] } : { command, args }
  }

  return {
    as,
    isRoot,
    canSwitch() {
      probe ??= facts.hasSetpriv ? succeeds(as('reader', '/bin/true', [])) : Promise.resolve(false)
      return probe
    },
  }
}

/** What this process is, for `createIdentities`. */
export function readIdentityFacts(homeOwner: { uid: number; gid: number }): IdentityFacts {
  return {
    uid: process.getuid?.() ?? 0,
    hasAmbient: /^CapAmb:\s*0*[1-9a-f]/m.test(readFileSync('/proc/self/status', 'utf8')),
    homeOwner,
    hasSetpriv: existsSync(setpriv),
  }
}

/** Lets this program, and the developer's processes, write what the reader made. */
export function joinReaderGroup(): void {
  try {
    process.setgroups?.([...new Set([...(process.getgroups?.() ?? []), readerId])])
  } catch {
    // Without the capability there is no reader either.
  }
}

function developerOptions({ uid, hasAmbient, homeOwner, hasSetpriv }: IdentityFacts): string[] | null {
  if (!hasSetpriv) return null
  if (uid !== 0) return hasAmbient ? withoutCapabilities : null
  if (homeOwner.uid === 0) return null
  return [`--reuid=${homeOwner.uid}`, `--regid=${homeOwner.gid}`, `--groups=${readerId}`]
}

function readerOptions({ uid }: IdentityFacts): string[] {
  const person = [`--reuid=${readerId}`, `--regid=${readerId}`, '--clear-groups']
  return uid === 0 ? person : [...person, ...withoutCapabilities]
}

function succeeds({ command, args }: { command: string; args: string[] }): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', env: {} })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  })
}
