/** Files of the data folder that describe upgrades. Each is replaced in one step. */
import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'

/** Backups of each kind that are kept. */
export const keptBackups = 3

/** A version of Roost on this machine. Null: unknown. */
export const Code = z.object({
  version: z.string(),
  commit: z.string().nullable(),
  root: z.string().nullable(),
})
export type Code = z.output<typeof Code>

/** Which version last opened the data, and how to return to the one before it. */
export const UpgradeState = z.object({
  code: Code,
  /** The version before; null when there is none to return to. */
  previous: Code.nullable(),
  /** Name of the backup from before the upgrade; null when the upgrade changed no data, or had no backup. */
  backup: z.string().nullable(),
  /** True: the data were changed without a backup. */
  without_backup: z.boolean(),
  /** False while migrations are missing. */
  completed: z.boolean(),
  /** Number of migrations before the upgrade that changed the data; null: unknown, or no such upgrade. */
  migrations: z.number().int().nullable().default(null),
})
export type UpgradeState = z.output<typeof UpgradeState>

/** A rollback that has begun; deleted when it is complete. */
export const Journal = z.object({
  /** Name of the backup to restore; null when only the code changes. */
  backup: z.string().nullable(),
  code: Code,
  /** Name of the backup of the replaced data. */
  aside: z.string().nullable(),
  phase: z.enum(['replace', 'code']),
})
export type Journal = z.output<typeof Journal>

const stateFile = 'upgrade-state.json'
/** The command line deletes it after changing the code. */
const journalFile = 'rollback.json'

export function readState(dataDir: string): Promise<UpgradeState | null> {
  return readJson(join(dataDir, stateFile), UpgradeState)
}

export async function writeState(dataDir: string, state: UpgradeState | null): Promise<void> {
  const path = join(dataDir, stateFile)
  if (state === null) await rm(path, { force: true })
  else await writeWhole(path, state)
}

export function readJournal(dataDir: string): Promise<Journal | null> {
  return readJson(join(dataDir, journalFile), Journal)
}

export async function writeJournal(dataDir: string, journal: Journal): Promise<void> {
  await writeWhole(join(dataDir, journalFile), journal)
}

/** Null without the file. Throws for a file that cannot be parsed. */
export async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  return text === null ? null : schema.parse(JSON.parse(text))
}

/** Writes a file that only its owner can read. It is on the disk when this returns. */
export async function writeWhole(path: string, content: object | Buffer): Promise<void> {
  const draft = `${path}.${process.pid}.draft`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(Buffer.isBuffer(content) ? content : `${JSON.stringify(content, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  await flushFolder(dirname(path))
}

export async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
