import { open, readdir, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isObject } from '../kit/json.ts'
import { principalBase } from '../processes/identity.ts'

/** Which uid belongs to which principal. A uid is never given to another principal. */
export type Uids = { of(principalId: string): Promise<number> }

/** Uids above this one have other meanings in some systems. */
const last = 60_000

export async function openUids(file: string, homes: string): Promise<Uids> {
  const known = await readMap(file)
  // Homes outlive a lost map, and their owners must not get a successor.
  const used = (await readdir(homes).catch(() => [])).map(Number).filter(Number.isInteger)
  let next = Math.max(principalBase, ...known.values(), ...used) + 1
  let saving: Promise<void> = Promise.resolve()

  async function save(): Promise<void> {
    const part = `${file}.part`
    await using written = await open(part, 'w', 0o660)
    await written.writeFile(JSON.stringify(Object.fromEntries(known)))
    await written.sync()
    await rename(part, file)
    await using folder = await open(dirname(file), 'r')
    await folder.sync()
  }

  return {
    async of(principalId) {
      if (!known.has(principalId)) {
        if (next > last) throw new Error('This agent has no Unix user left for another person.')
        known.set(principalId, next)
        next += 1
        saving = saving.catch(() => {}).then(save)
      }
      // A uid is used only after it is stored, also by a second run of the same principal.
      await saving
      return known.get(principalId) ?? 0
    },
  }
}

async function readMap(file: string): Promise<Map<string, number>> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw error
  })
  const parsed: unknown = JSON.parse(text)
  const entries = isObject(parsed) ? Object.entries(parsed) : []
  return new Map(entries.filter((entry): entry is [string, number] => Number(entry[1]) > principalBase))
}

export const uidsFile = (program: string) => join(program, 'principals.json')
