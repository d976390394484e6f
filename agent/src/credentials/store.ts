import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { chown, lstat, mkdir, open, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseDotenv } from '@roost/contracts/kit/dotenv'
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
import { fileChunkBytes } from '@roost/contracts/link/messages'
import type { Clock } from '../kit/clock.ts'
import { isObject } from '../kit/json.ts'
import { LinkFault } from '../link/link.ts'
import type { OwnersFiles } from '../principals/owners-files.ts'
import { asFault, codeOf } from '../workspace/paths.ts'
import { readPlainFile } from '../workspace/plain-file.ts'
import { readPiece } from '../workspace/read.ts'
import { move } from '../workspace/write.ts'
import { findCredentials } from './find.ts'
import { renderMcp } from './render.ts'
import { createStaging } from './staging.ts'

export type CredentialStore = {
  status(): Promise<CredentialsStatusAnswer>
  /** Stages one chunk of a file; `commit` moves the file to its path. */
  write(piece: Omit<CredentialsWrite, 't'>): Promise<void>
  /** Writes all files or none, each readable by the developer only. */
  commit(uploadId: string, paths: string[]): Promise<CredentialsCommitAnswer>
  /** With `ownersOnly`, refuses a file that somebody other than the owner may have written. */
  read(request: {
    path: string
    offset: number
    length: number
    ownersOnly?: boolean
  }): Promise<FileReadAnswer>
  /** Renders `.mcp.json` and creates an empty `.env` if there is none. */
  render(): Promise<LeftOutServer[]>
}

export type CredentialStoreDeps = {
  home: string
  ownersFiles: Pick<OwnersFiles, 'read' | 'isOwners'>
  owner: { uid: number; gid: number }
  /** Private staging folder, used for nothing else. */
  parts: string
  /** File with the digests of rendered servers. */
  digests: string
  /** The current address of the platform's tools; null when it offers none. */
  own(): { url: string } | null
  /** Variables that a template may use in addition to `.env`. */
  variables(): Readonly<Record<string, string>>
  clock: Clock
}

export function createCredentialStore(deps: CredentialStoreDeps): CredentialStore {
  const { home, ownersFiles, owner, parts, digests, own, variables, clock } = deps
  const staging = createStaging(parts, clock)
  let last: Promise<unknown> = Promise.resolve()

  /** Runs changes one after another: concurrent ones would mix their files. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = last.then(work, work)
    last = next.catch(() => {})
    return next
  }

  async function place(part: string, path: string): Promise<void> {
    if (process.getuid?.() === 0 && owner.uid !== 0) await chown(part, owner.uid, owner.gid)
    await move(part, join(home, path))
  }

  async function values(): Promise<Record<string, string>> {
    const entries = Object.entries(parseDotenv((await ownersFiles.read('.env')) ?? ''))
    return Object.fromEntries(entries.filter(([name]) => !namesVariable(suppressedVariables, name)))
  }

  async function partOf(text: string): Promise<string> {
    await mkdir(parts, { recursive: true, mode: 0o700 })
    const part = join(parts, randomUUID())
    await writeFile(part, text, { flag: 'wx', mode: 0o600 })
    return part
  }

  async function foreignOf(paths: string[]): Promise<string[]> {
    const found = await Promise.all(
      paths.map(async (path) => ((await ownersFiles.isOwners(path)) ? [] : [path])),
    )
    return found.flat()
  }

  async function writeDigests(rendered: Record<string, string>): Promise<void> {
    await rename(await partOf(JSON.stringify(rendered)), digests)
  }

  async function render(): Promise<LeftOutServer[]> {
    const env = await open(join(home, '.env'), 'wx', 0o600).catch(() => null)
    if (env) {
      await env.close()
      if (process.getuid?.() === 0 && owner.uid !== 0) await chown(join(home, '.env'), owner.uid, owner.gid)
    }
    // Copied into a file of the owner's, the entries of somebody else would take effect. Only these texts are used: the
    // files may be replaced after the check.
    const present = await ownersFiles.read('.mcp.json')
    const template = await ownersFiles.read(mcpTemplateFile)
    const foreign = await foreignOf(['.mcp.json', mcpTemplateFile])
    if (foreign.length > 0)
      return foreign.map((path) => ({ server: '*', names: [], reason: `${path} ${notOwners}` }))
    const result = renderMcp({
      template,
      present,
      rendered: await readDigests(digests),
      values: { ...variables(), ...(await values()) },
      own: own(),
    })
    if (result.text !== present) await place(await partOf(result.text), '.mcp.json')
    await writeDigests(result.rendered)
    return result.leftOut
  }

  async function commit(uploadId: string, paths: string[]): Promise<CredentialsCommitAnswer> {
    const files = staging.take(uploadId)
    const undo: (() => Promise<void>)[] = []
    try {
      for (const path of paths) {
        const part = files.get(path)
        if (!part) throw new LinkFault('invalid_message', `No chunk of ${path} was uploaded.`)
        await makeParents(home, path, owner)
        const backup = join(parts, randomUUID())
        const target = join(home, path)
        const isThere = await moveToBackup(target, backup)
        undo.push(() => (isThere ? move(backup, target) : rm(target, { force: true })))
        await place(part, path)
        // The backup is deleted once all files are in place.
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
      const set = Object.entries(parseDotenv((await ownersFiles.read('.env')) ?? '')).filter(
        ([, value]) => value !== '',
      )
      return {
        files: await findCredentials(home),
        variables: set.map(([name]) => name.slice(0, 300)).slice(0, 10_000),
        left_out,
        mcp_template: await readPlainFile(home, mcpTemplateFile, fileChunkBytes),
        env_example: await readPlainFile(home, '.env.example', fileChunkBytes),
      }
    },
    async write(piece) {
      refuse(piece.path)
      const maxBytes = piece.path === bundleFile ? maxBundleBytes : maxCredentialBytes
      await staging.write(piece, maxBytes)
    },
    commit: (uploadId, paths) => inTurn(() => commit(uploadId, paths)),
    async read({ path, ownersOnly, ...range }) {
      refuse(path)
      const real = await realpath(join(home, path)).catch((error: unknown) => {
        throw asFault(error, path)
      })
      if (real !== join(await realpath(home), path)) throw linked(path)
      if (ownersOnly) {
        // Checks the opened file, which another process cannot exchange any more.
        const text = await ownersFiles.read(path)
        if (text === null) throw new LinkFault('protected_path', `${path} ${notOwners}.`)
        return pieceOf(Buffer.from(text), range)
      }
      return readPiece(real, range, (opened) => {
        if (opened !== real) throw linked(path)
      })
    },
    render: () => inTurn(render),
  }
}

function pieceOf(bytes: Buffer, { offset, length }: { offset: number; length: number }): FileReadAnswer {
  const end = Math.min(bytes.length, offset + length)
  const data_base64 = bytes.subarray(offset, end).toString('base64')
  return { data_base64, size: bytes.length, eof: end >= bytes.length }
}

const notOwners = 'may have been written by somebody other than the owner'

/** The platform requests only these paths. A faulty request must not write startup files. */
function refuse(path: string): void {
  if (path !== bundleFile && credentialPathFault(path) !== null)
    throw new LinkFault('protected_path', `${path.slice(0, 300)} is not a credential file.`)
}

function linked(path: string): LinkFault {
  return new LinkFault('protected_path', `${path} is reached through a symbolic link.`)
}

/** Creates the parent folders of a file. Rejects symbolic links, which could redirect the file. */
async function makeParents(home: string, path: string, owner: { uid: number; gid: number }): Promise<void> {
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

/** Moves the current file to `backup`. Returns false when there is none. */
async function moveToBackup(target: string, backup: string): Promise<boolean> {
  try {
    await move(target, backup)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

async function readDigests(path: string): Promise<Record<string, string>> {
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
    // Missing or replaced: every entry of `.mcp.json` then counts as written by a person.
    return {}
  }
}
