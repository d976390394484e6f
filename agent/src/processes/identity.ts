import { type SpawnOptions, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { memoize } from '../kit/memoize.ts'

/** The Unix user of a child process. */
export type ProcessUser = {
  readonly uid: number
  readonly gid: number
  readonly groups: readonly number[]
}

/** A command line for `spawn`, with the options that its user needs. */
export type Command = { command: string; args: string[]; options: Pick<SpawnOptions, 'uid'> }

export type Identities = {
  /** Owns the workspace. Runs the owner's turns, terminals, SSH logins and the workspace's own scripts. */
  developer: ProcessUser
  /** Runs the owner's turns in read-only mode. It cannot write the workspace's sources. */
  reader: ProcessUser
  /** This program's own user. Turns can neither signal its processes nor enter its folders. */
  program: ProcessUser
  /** Wraps `command` to run as that user, without this program's capabilities. */
  as(user: ProcessUser, command: string, args: string[]): Command
  /** Real uid of the processes that `as` starts. */
  uidOf(user: ProcessUser): number
  /** True if this program can start processes as other users; an unprivileged sandbox may not. */
  canSwitch(): Promise<boolean>
  /** Children run as root, because the workspace has no other owner. */
  isRoot: boolean
}

/** The user of this program. Turns run as other users, so they cannot signal, trace or read it. */
export const programId = 900
/** Group that may read files with credentials. */
export const credentialsGroup = 901
/** Group that may see the workspace. Its parent folder is closed to everybody else. */
export const workspaceGroup = 902
/** Group that may write the folders that read-only mode allows. */
export const openGroup = 903
/** Owner and group of the workspace's files. */
export const developerId = 1000
/** Uid and gid of the reader. */
export const readerId = 1001
/** Uids above this one belong to principals. */
export const principalBase = 20_000

const setpriv = '/usr/bin/setpriv'
/** Listed by name: a setpriv older than the kernel refuses "all". */
const withoutCapabilities = ['--inh-caps=-setuid,-setgid,-chown', '--ambient-caps=-setuid,-setgid,-chown']

export type IdentityFacts = {
  /** Real uid of this program. */
  uid: number
  /** True when children would inherit capabilities of this program. */
  hasAmbient: boolean
  homeOwner: { uid: number; gid: number }
  hasSetpriv: boolean
}

export function createIdentities(facts: IdentityFacts): Identities {
  const { uid, homeOwner, hasAmbient, hasSetpriv } = facts
  const isRoot = uid === 0 && homeOwner.uid === 0
  const mayChange = hasSetpriv && (uid === 0 || hasAmbient)
  const owner = uid === 0 ? homeOwner : { uid: developerId, gid: developerId }
  const developer = { ...owner, groups: [credentialsGroup, workspaceGroup, openGroup, readerId] }
  const reader = { uid: readerId, gid: readerId, groups: [workspaceGroup, openGroup] }
  const program = { uid, gid: uid, groups: [uid] }
  const probe = memoize(async () => mayChange && (await succeeds(as(reader, '/bin/true', []))))

  function as(user: ProcessUser, command: string, args: string[]): Command {
    if (!mayChange || (isRoot && user.uid === 0)) return { command, args, options: {} }
    const change = [
      `--reuid=${user.uid}`,
      `--regid=${user.gid}`,
      `--groups=${user.groups.join(',')}`,
      ...(uid === 0 ? [] : withoutCapabilities),
    ]
    // With one uid in all roles the capabilities survive the start of setpriv on every kernel.
    return { command: setpriv, args: [...change, '--', command, ...args], options: { uid } }
  }

  return {
    developer,
    reader,
    program,
    as,
    uidOf: (user) => (mayChange ? user.uid : uid),
    isRoot,
    canSwitch: () => probe().catch(() => false),
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

/**
 * Works on files as `developer` from here on. The real and saved uid stay the program's, so processes of
 * `developer` cannot signal or trace it.
 */
export function workAsDeveloper(): void {
  if (process.getuid?.() === programId) process.seteuid?.(developerId)
}

/** Lets this program use files that other users share through groups. */
export function joinGroups(): void {
  try {
    const own = [programId, credentialsGroup, workspaceGroup, openGroup, readerId]
    process.setgroups?.([...new Set([...(process.getgroups?.() ?? []), ...own])])
  } catch {
    // Without this capability the program cannot start other users either.
  }
}

/** Rejects if the command cannot be started. */
function succeeds({ command, args, options }: Command): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: 'ignore', env: {} })
    child.once('error', reject)
    child.once('exit', (code) => resolve(code === 0))
  })
}
