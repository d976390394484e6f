import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { constants, existsSync, readFileSync, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { obeyedPaths } from '@roost/contracts/link/credentials'
import type { Identities } from '../processes/identity.ts'
import type { TurnPlace } from './places.ts'

/**
 * Files of the workspace that runtimes and this program obey: settings with hooks, servers, variables, start
 * scripts. They count only if the owner wrote them. Costs nothing for an agent that only its owner uses.
 */
export type OwnersFiles = {
  /** True once somebody else may have written to the workspace. */
  isShared(): boolean
  /** Returns the text of a file; null if it is missing, or if somebody else may have written it. */
  read(path: string): Promise<string | null>
  /** True for a missing path, and for a file or folder that nobody but the owner can have written. */
  isOwners(path: string): Promise<boolean>
  /** Returns the obeyed paths that somebody else may have written. */
  foreign(): Promise<string[]>
  /**
   * Called before a restore: what comes back may be what somebody else had written. `hasForeign` is true if it is for
   * certain.
   */
  restored(hasForeign: boolean): Promise<void>
  /** Renames a path, for a CLI that cannot be told to ignore it. */
  setAside(path: string): Promise<void>
  /** Called before a process of somebody starts that may write to the workspace. */
  began(place: WriterPlace): Promise<void>
  /** Called after that process has ended. */
  ended(place: WriterPlace): void
}

type WriterPlace = Pick<TurnPlace, 'isPrivate' | 'access'>

const limitMs = 30_000
/** Opening a pipe would wait for its other end, and block a thread that all files of this program need. */
const reading = constants.O_RDONLY | constants.O_NONBLOCK
const checked = 'checked'
/** Every turn may write its operator queue there. */
const queueFolder = '.roost'

/**
 * `marker` is a file of this program. It exists once somebody else had write access, and says whether the files
 * were checked since.
 */
export function createOwnersFiles(home: string, marker: string, identities: Identities): OwnersFiles {
  let isShared = existsSync(marker)
  /** Without a writer since the last check, every change is the owner's. */
  let isChecked = isShared && readFileSync(marker, 'utf8') === checked
  let writers = 0
  let queue: Promise<unknown> = Promise.resolve()
  let marking: Promise<void> = Promise.resolve()

  const isWriter = ({ isPrivate, access }: WriterPlace) => isPrivate && access === 'write'
  const isOwned = ({ uid, mode }: Stats, isOpen = false) =>
    (uid === identities.developer.uid || uid === 0) && (isOpen || (mode & 0o022) === 0)

  async function isDoubtful(): Promise<boolean> {
    if (!isShared) return false
    if (writers > 0) return true
    if (!isChecked && (await findForeign()).length === 0 && writers === 0 && !isChecked) {
      isChecked = true
      await mark(checked)
    }
    return !isChecked
  }

  async function findForeign(): Promise<string[]> {
    const found = await Promise.all(obeyedPaths.map(async (path) => ((await isForeign(path)) ? [path] : [])))
    return found.flat()
  }

  async function isForeign(path: string): Promise<boolean> {
    const parts = path.split('/')
    for (const [index] of parts.entries()) {
      const found = await lstat(join(home, ...parts.slice(0, index + 1))).catch(() => null)
      if (!found) return false
      if (found.isSymbolicLink() || !isOwned(found, parts[index] === queueFolder)) return true
      if (index === parts.length - 1 && found.isDirectory()) return !(await run(ownedScript, [path]))
    }
    return false
  }

  function run(script: string, paths: readonly string[]): Promise<boolean> {
    const command = identities.as(identities.developer, '/bin/sh', ['-c', script, 'sh', home, ...paths])
    return new Promise((resolve) => {
      const child = spawn(command.command, command.args, {
        ...command.options,
        stdio: 'ignore',
        env: { PATH: '/usr/bin:/bin' },
        cwd: '/',
        timeout: limitMs,
      })
      child.once('error', () => resolve(false))
      child.once('exit', (code) => resolve(code === 0))
    })
  }

  function mark(text: string): Promise<void> {
    marking = marking.catch(() => {}).then(() => writeMarker(marker, text))
    return marking
  }

  /** What the owner wrote since the last check stays the owner's: nobody else was there. */
  async function begin(): Promise<void> {
    if (writers === 0 && !(await isDoubtful())) await run(closeScript, obeyedPaths)
    if (!isShared || isChecked) await mark('')
    isShared = true
    isChecked = false
    writers += 1
  }

  /** Opens each folder without following links, so that nothing is replaced between check and use. */
  async function readOwned(path: string): Promise<string | null> {
    const opened: FileHandle[] = []
    try {
      for (const name of path.split('/')) {
        const parent = opened.at(-1)
        const at = join(parent ? `/proc/self/fd/${parent.fd}` : home, name)
        const file = await open(at, reading | constants.O_NOFOLLOW)
        opened.push(file)
        if (!isOwned(await file.stat())) return null
      }
      return await textOf(opened.at(-1))
    } catch {
      return null
    } finally {
      await Promise.all(opened.map((file) => file.close()))
    }
  }

  return {
    isShared: () => isShared,
    async read(path) {
      if (await isDoubtful()) return readOwned(path)
      return readAny(join(home, path)).catch(() => null)
    },
    isOwners: async (path) => !(await isDoubtful()) || !(await isForeign(path)),
    foreign: async () => ((await isDoubtful()) ? findForeign() : []),
    restored(hasForeign) {
      const marked = queue.then(async () => {
        if (!isShared && !hasForeign) return
        await mark('')
        isShared = true
        isChecked = false
      })
      queue = marked.catch(() => {})
      return marked
    },
    async setAside(path) {
      await rename(join(home, path), join(home, `${path}.ignored-${randomUUID().slice(0, 8)}`))
    },
    began(place) {
      if (!isWriter(place)) return Promise.resolve()
      const begun = queue.then(begin)
      queue = begun.catch(() => {})
      return begun
    },
    ended(place) {
      if (!isWriter(place)) return
      writers -= 1
      queue = queue.then(isDoubtful).catch(() => {})
    },
  }
}

async function readAny(path: string): Promise<string | null> {
  await using file = await open(path, reading)
  return await textOf(file)
}

async function textOf(file: FileHandle | undefined): Promise<string | null> {
  return file && (await file.stat()).isFile() ? await file.readFile('utf8') : null
}

/** Stored before a writer starts: after a crash the files must be checked. */
async function writeMarker(marker: string, text: string): Promise<void> {
  await using file = await open(marker, 'w', 0o660)
  await file.writeFile(text)
  await file.sync()
  await using folder = await open(dirname(marker), 'r')
  await folder.sync()
}

const existing = `cd "$1" || exit 1
shift
for path; do
  shift
  [ ! -e "$path" ] || [ -L "$path" ] || set -- "$@" "./$path"
done
[ $# != 0 ] || exit 0`

/** Takes the rights to write from others. */
const closeScript = `${existing}
find "$@" -xdev -user "$(id -u)" ! -type l -perm /022 -exec chmod go-w {} +`

/** Fails if somebody else owns or may write an entry, or if a folder cannot be read. */
const ownedScript = `${existing}
found=$(find "$@" -xdev \\( ! -user "$(id -u)" ! -user 0 -o ! -type l -perm /022 \\) -print -quit) && [ -z "$found" ]`
