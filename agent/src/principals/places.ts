import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '@roost/contracts/link/runs'
import { memoize } from '../kit/memoize.ts'
import {
  credentialsGroup,
  developerId,
  type Identities,
  openGroup,
  type ProcessUser,
  workspaceGroup,
} from '../processes/identity.ts'
import { earlierSession } from './earlier-sessions.ts'
import { makePrivateFolder, removePrivateFolder, runAs } from './private-folder.ts'
import type { Uids } from './uids.ts'
import type { Volume } from './volume.ts'

/** Where and as whom a turn works. */
export type TurnPlace = {
  user: ProcessUser
  access: Principal['access']
  /** Its home folder: the workspace for the owner, else a private folder. */
  home: string
  /** Folder for temporary files; null for the agent's own. */
  temporary: string | null
  /** Sessions and settings of the CLI. */
  state: string
  /** Working folder. */
  cwd: string
  /** Whether it may read files with credentials. */
  credentials: boolean
  /** False for the owner, and where this program cannot start other users. */
  isPrivate: boolean
}

export type Places = {
  of(principal: Principal, isReadOnly: boolean): Promise<TurnPlace>
  /** Shell code that brings a conversation of an earlier version into the person's own state. */
  earlierSession(place: TurnPlace, sessionId: string | null, scratch: string): Promise<string>
}

export type PlacesDeps = {
  home: string
  volume: Volume
  identities: Identities
  uids(): Promise<Uids>
  runtime: string
  agentName: string
}

export function createPlaces(deps: PlacesDeps): Places {
  const { home, volume, identities, runtime } = deps
  const homes = new Map<number, () => Promise<string>>()

  function ensureHome(uid: number): Promise<string> {
    const ensure = homes.get(uid) ?? memoize(() => findHome(uid))
    homes.set(uid, ensure)
    return ensure()
  }

  async function findHome(uid: number): Promise<string> {
    const path = join(volume.homes, String(uid))
    const found = await lstat(path).catch(() => null)
    if (found?.uid === uid) return path
    // Not complete, so it was never used.
    if (found) await removePrivateFolder(path, identities)
    await createHome(uid)
    return path
  }

  async function createHome(uid: number): Promise<void> {
    const user = { uid, gid: uid, groups: [uid] }
    const place = { closed: volume.program, parent: volume.homes, name: String(uid) }
    const { path, handOver } = await makePrivateFolder(place, user, identities)
    await mkdir(join(path, '.tmp'), { mode: 0o700 })
    await writeFile(join(path, '.gitconfig'), gitConfig(deps.agentName))
    await handOver()
    // Nobody else is in its group. Programs such as SSH refuse folders with wider modes nevertheless.
    await runAs(user, '/bin/chmod', ['0700', path], identities)
  }

  const shared = join(volume.owner, 'state')
  return {
    async earlierSession({ isPrivate, state }, sessionId, scratch) {
      if (!isPrivate || sessionId === null) return ''
      return earlierSession({ shared, runtime }, sessionId, { state, scratch })
    },
    async of(principal, isReadOnly) {
      const owner: TurnPlace = {
        user: identities.developer,
        access: principal.access,
        home,
        temporary: null,
        state: join(shared, runtime),
        cwd: home,
        credentials: principal.credentials,
        isPrivate: false,
      }
      if (!(await identities.canSwitch())) return owner
      if (principal.access === 'owner') return isReadOnly ? { ...owner, user: identities.reader } : owner
      const uid = await (await deps.uids()).of(principal.id)
      const own = await ensureHome(uid)
      return {
        ...owner,
        user: userOf(uid, principal, isReadOnly),
        home: own,
        temporary: join(own, '.tmp'),
        state: join(own, '.state', runtime),
        cwd: principal.access === 'none' ? own : home,
        isPrivate: true,
      }
    },
  }
}

/** A writer's files belong to the workspace's group from the start, without any mark on folders. */
function userOf(uid: number, { access, credentials }: Principal, isReadOnly: boolean): ProcessUser {
  if (access === 'none') return { uid, gid: uid, groups: [uid] }
  const mayWrite = access === 'write'
  const groups = [
    workspaceGroup,
    ...(credentials && !isReadOnly ? [credentialsGroup] : []),
    ...(mayWrite ? [openGroup] : []),
  ]
  return { uid, gid: mayWrite && !isReadOnly ? developerId : uid, groups }
}

function gitConfig(name: string): string {
  return `[user]\n\tname = ${name}\n\temail = ${name}@agents.roost.local\n`
}
