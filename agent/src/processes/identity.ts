import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/**
 * The user of a child process. `developer` owns the workspace. `reader` cannot write its sources. This
 * enforces read-only mode for shell commands too, which no hook can judge.
 */
export type ProcessUser = 'developer' | 'reader'

export type Identities = {
  /** Wraps `command` to run as that user, without this program's capabilities. */
  as(user: ProcessUser, command: string, args: string[]): { command: string; args: string[] }
  /** True if this program can start processes as the reader; an unprivileged sandbox may not. */
  canSwitch(): Promise<boolean>
  /** Children run as root, because the workspace has no other owner. */
  isRoot: boolean
}

/** Uid and gid of the reader. Files that both users write belong to this group; the developer joins it. */
export const readerId = 1001

const setpriv = '/usr/bin/setpriv'
/** Listed by name: a setpriv older than the kernel refuses "all". */
const withoutCapabilities = ['--inh-caps=-setuid,-setgid', '--ambient-caps=-setuid,-setgid']

export type IdentityFacts = {
  uid: number
  /** True when children would inherit capabilities of this program. */
  hasAmbient: boolean
  homeOwner: { uid: number; gid: number }
  hasSetpriv: boolean
}

export function createIdentities(facts: IdentityFacts): Identities {
  const isRoot = facts.uid === 0 && facts.homeOwner.uid === 0
  const developer = developerOptions(facts)
  let probe: Promise<boolean> | null = null

  function as(user: ProcessUser, command: string, args: string[]) {
    const options = user === 'developer' ? developer : readerOptions(facts)
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

/** Reads the facts about this process for `createIdentities`. */
export function readIdentityFacts(homeOwner: { uid: number; gid: number }): IdentityFacts {
  return {
    uid: process.getuid?.() ?? 0,
    hasAmbient: /^CapAmb:\s*0*[1-9a-f]/m.test(readFileSync('/proc/self/status', 'utf8')),
    homeOwner,
    hasSetpriv: existsSync(setpriv),
  }
}

/** Lets this program and the developer's processes write files of the reader. */
export function joinReaderGroup(): void {
  try {
    process.setgroups?.([...new Set([...(process.getgroups?.() ?? []), readerId])])
  } catch {
    // Without this capability the program cannot start a reader either.
  }
}

function developerOptions({ uid, hasAmbient, homeOwner, hasSetpriv }: IdentityFacts): string[] | null {
  if (!hasSetpriv) return null
  if (uid !== 0) return hasAmbient ? withoutCapabilities : null
  if (homeOwner.uid === 0) return null
  return [`--reuid=${homeOwner.uid}`, `--regid=${homeOwner.gid}`, `--groups=${readerId}`]
}

function readerOptions({ uid }: IdentityFacts): string[] {
  const options = [`--reuid=${readerId}`, `--regid=${readerId}`, '--clear-groups']
  return uid === 0 ? options : [...options, ...withoutCapabilities]
}

function succeeds({ command, args }: { command: string; args: string[] }): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', env: {} })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  })
}
