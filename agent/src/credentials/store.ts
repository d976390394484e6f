import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { chown, lstat, mkdir, open, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  bundleFile,
  type CredentialsCommitAnswer,
  type CredentialsStatusAnswer,
  type CredentialsWrite,
  credentialPathFault,
  type LeftOutServer,
  maxBundleBytes,
  maxCredentialBytes,
  mcpTemplateFile,
  namesVariable,
  suppressedVariables,
} from '@roost/contracts/link/credentials'
import type { FileReadAnswer } from '@roost/contracts/link/files'
import type { Clock } from '../kit/clock.ts'
import { isObject } from '../kit/json.ts'
import { LinkFault } from '../link/link.ts'
import { parseDotenv } from '../workspace/dotenv.ts'
import { readSmall } from '../workspace/info.ts'
import { asFault, codeOf } from '../workspace/paths.ts'
import { readPiece } from '../workspace/read.ts'
import { findCredentials } from './find.ts'
import { renderMcp } from './render.ts'
import { createStaging } from './staging.ts'

export type CredentialStore = {
  status(): Promise<CredentialsStatusAnswer>
  /** A piece of a file that takes its place with `commit`. */
  write(piece: Omit<CredentialsWrite, 't'>): Promise<void>
  /** All of the files or none, each readable by the developer alone. */
  commit(uploadId: string, paths: string[]): Promise<CredentialsCommitAnswer>
  read(request: { path: string; offset: number; length: number }): Promise<FileReadAnswer>
  /** `.mcp.json` anew, and an empty `.env` where there is none. */
  render(): Promise<LeftOutServer[]>
}

export type CredentialStoreDeps = {
  home: string
  owner: { uid: number; gid: number }
  /** Where files are put together: on the workspace's volume, closed to others, and holds nothing else. */
  parts: string
  /** Null: the platform offers no tools. */
  own: { url: string; key: string } | null
  /** What a template may use beside `.env`. */
  variables: Readonly<Record<string, string>>
  clock: Clock
}

export function createCredentialStore(deps: CredentialStoreDeps): CredentialStore {
  const { home, owner, parts, own, variables, clock } = deps
  const staging = createStaging(parts, clock)
  const memory = join(home, '.roost', 'mcp-rendered.json')
  let last: Promise<unknown> = Promise.resolve()

  /** One change after the other: two at once would each leave half of the other's. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = last.then(work, work)
    last = next.catch(() => {})
    return next
  }

  async function place(part: string, path: string): Promise<void> {
    if (process.getuid?.() === 0 && owner.uid !== 0) await chown(part, owner.uid, owner.gid)
    await rename(part, join(home, path))
  }

  async function values(): Promise<Record<string, string>> {
    const text = await readFile(join(home, '.env'), 'utf8').catch(() => '')
    const given = Object.entries(parseDotenv(text))
    return Object.fromEntries(given.filter(([name]) => !namesVariable(suppressedVariables, name)))
  }

  async function partOf(text: string): Promise<string> {
    await mkdir(parts, { recursive: true, mode: 0o700 })
    const part = join(parts, randomUUID())
    await writeFile(part, text, { flag: 'wx', mode: 0o600 })
    return part
  }

  async function remember(rendered: Record<string, string>): Promise<void> {
    await rename(await partOf(JSON.stringify(rendered)), memory)
  }

  async function render(): Promise<LeftOutServer[]> {
    const env = await open(join(home, '.env'), 'wx', 0o600).catch(() => null)
    if (env) {
      await env.close()
      if (process.getuid?.() === 0 && owner.uid !== 0) await chown(join(home, '.env'), owner.uid, owner.gid)
    }
    const present = await readSmall(join(home, '.mcp.json'))
    const result = renderMcp({
      template: await readSmall(join(home, mcpTemplateFile)),
      present,
      rendered: await remembered(memory),
      values: { ...variables, ...(await values()) },
      own,
    })
    if (result.text !== present) await place(await partOf(result.text), '.mcp.json')
    await remember(result.rendered)
    return result.leftOut
  }

  async function commit(uploadId: string, paths: string[]): Promise<CredentialsCommitAnswer> {
    const files = staging.take(uploadId)
    const undo: (() => Promise<void>)[] = []
    try {
      for (const path of paths) {
        const part = files.get(path)
        if (!part) throw new LinkFault('invalid_message', `No piece of ${path} came.`)
        await makeWay(home, path, owner)
        const backup = join(parts, randomUUID())
        const target = join(home, path)
        const isThere = await keep(target, backup)
        undo.push(() => (isThere ? rename(backup, target) : rm(target, { force: true })))
        await place(part, path)
        // Kept until all are in place.
        if (isThere) files.set(`${path}\0before`, backup)
      }
    } catch (error) {
      for (const back of undo.reverse()) await back().catch(() => {})
      throw asFault(error, paths[undo.length] ?? '')
    } finally {
      await Promise.all([...files.values()].map((part) => rm(part, { force: true })))
    }
    return { written: paths, left_out: await render() }
  }

  return {
    async status() {
      const left_out = await inTurn(render)
      const text = await readFile(join(home, '.env'), 'utf8').catch(() => '')
      const set = Object.entries(parseDotenv(text)).filter(([, value]) => value !== '')
      return {
        files: await findCredentials(home),
        variables: set.map(([name]) => name.slice(0, 300)).slice(0, 10_000),
        left_out,
        mcp_template: await readSmall(join(home, mcpTemplateFile)),
        env_example: await readSmall(join(home, '.env.example')),
      }
    },
    async write(piece) {
      refuse(piece.path)
      const most = piece.path === bundleFile ? maxBundleBytes : maxCredentialBytes
      await staging.write(piece, most)
    },
    commit: (uploadId, paths) => inTurn(() => commit(uploadId, paths)),
    async read({ path, ...range }) {
      refuse(path)
      const real = await realpath(join(home, path)).catch((error: unknown) => {
        throw asFault(error, path)
      })
      if (real !== join(await realpath(home), path)) throw linked(path)
      return readPiece(real, range, (opened) => {
        if (opened !== real) throw linked(path)
      })
    },
    render: () => inTurn(render),
  }
}

/** The platform asks for nothing else; a fault there must not write start-up files here. */
function refuse(path: string): void {
  if (path !== bundleFile && credentialPathFault(path) !== null)
    throw new LinkFault('protected_path', `${path.slice(0, 300)} is not a credential file.`)
}

function linked(path: string): LinkFault {
  return new LinkFault('protected_path', `${path} is reached over a link.`)
}

/** Makes the folders of a file. None of them may be a link: it would take the file somewhere else. */
async function makeWay(home: string, path: string, owner: { uid: number; gid: number }): Promise<void> {
  const root = await realpath(home)
  const parts = path.split('/').slice(0, -1)
  for (const [index] of parts.entries()) {
    const folder = join(root, ...parts.slice(0, index + 1))
    try {
      await mkdir(folder, { mode: 0o700 })
      if (process.getuid?.() === 0 && owner.uid !== 0) await chown(folder, owner.uid, owner.gid)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    if (!(await lstat(folder)).isDirectory()) throw linked(path)
  }
  const target = await lstat(join(root, path)).catch(() => null)
  if (target?.isDirectory()) throw new LinkFault('not_a_file', `${path} is a directory.`)
  if ((await realpath(dirname(join(root, path)))) !== dirname(join(root, path))) throw linked(path)
}

/** Puts away what has the name now; false when nothing has. */
async function keep(target: string, backup: string): Promise<boolean> {
  try {
    await rename(target, backup)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

async function remembered(path: string): Promise<Record<string, string>> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    const parsed: unknown = JSON.parse((await file.readFile()).toString('utf8'))
    if (!isObject(parsed)) return {}
    return Object.fromEntries(
      Object.entries(parsed).flatMap(([name, digest]) =>
        typeof digest === 'string' ? [[name, digest]] : [],
      ),
    )
  } catch {
    // Not there yet, or not ours any more: what is in `.mcp.json` then counts as a person's own.
    return {}
  }
}
