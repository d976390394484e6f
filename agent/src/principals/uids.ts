import { open, readdir, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isObject } from '../kit/json.ts'
import { principalBase } from '../processes/identity.ts'

/** Which uid belongs to which principal. A uid is never given to another principal. */
export type Uids = { of(principalId: string): Promise<number> }

/** Uids above this one have other meanings in some systems. */
const lastUid = 60_000

export async function openUids(file: string, homes: string): Promise<Uids> {
  const known = await readMap(file)
  // Homes outlive a lost map, and their owners must not get a successor.
  const used = (await readdir(homes).catch(() => [])).map(Number).filter(Number.isInteger)
  let next = Math.max(principalBase, ...known.values(), ...used) + 1
  let last: Promise<unknown> = Promise.resolve()

  /** A uid is used only after it is stored. After a failed write the next turn of the principal tries again. */
  async function assign(principalId: string): Promise<number> {
    if (next > lastUid) throw new Error('This agent has no Unix user left for another person.')
    const uid = next
    await save([...known, [principalId, uid]])
    known.set(principalId, uid)
    next += 1
    return uid
  }

  async function save(entries: [string, number][]): Promise<void> {
    const part = `${file}.part`
    await using written = await open(part, 'w', 0o660)
    await written.writeFile(JSON.stringify(Object.fromEntries(entries)))
    await written.sync()
    await rename(part, file)
    await using folder = await open(dirname(file), 'r')
    await folder.sync()
  }

  return {
    async of(principalId) {
      const uid = known.get(principalId)
      if (uid !== undefined) return uid
      // One after another: a second run of the same principal finds the uid of the first.
      const assigned = last.then(() => known.get(principalId) ?? assign(principalId))
      last = assigned.catch(() => {})
      return await assigned
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
