import { chmod, chown, lstat, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '@roost/contracts/link/runs'
import {
  credentialsGroup,
  developerId,
  type Identities,
  openGroup,
  type ProcessUser,
  workspaceGroup,
} from '../processes/identity.ts'
import { earlierSession } from './earlier-sessions.ts'
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
  const ready = new Set<number>()

  async function ensureHome(uid: number): Promise<string> {
    const path = join(volume.homes, String(uid))
    if (ready.has(uid)) return path
    await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    // This program owns the folder until it is complete, then it cannot enter it any more.
    if ((await lstat(path)).uid !== uid) {
      await chmod(path, 0o700)
      const config = join(path, '.gitconfig')
      await rm(config, { force: true })
      await mkdir(join(path, '.tmp'), { recursive: true, mode: 0o700 })
      await writeFile(config, gitConfig(deps.agentName))
      for (const each of [config, join(path, '.tmp'), path]) await chown(each, uid, uid)
    }
    ready.add(uid)
    return path
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
