/**
 * Restores a workspace and ends itself with SIGKILL before its change of this number, as
 * `node restore-program.ts JSON`. Prints the number of changes if it comes to its end.
 */
import { readFileSync } from 'node:fs'
import type { TreeItem } from '@roost/test-support/trees/random'
import { watchChanges } from './fs-faults.ts'
import { type RestorePlace, restoresAt, restoreTo } from './restore-driver.ts'

export type RestoreProgram = { place: RestorePlace; tree: string | null; killAt: number | null }

const { place, tree, killAt } = JSON.parse(process.argv[2] ?? '') as RestoreProgram
let changes = 0
await watchChanges(() => {
  changes += 1
  if (changes === killAt) process.kill(process.pid, 'SIGKILL')
})
const restores = restoresAt(place)
await restores.resume()
if (tree !== null) {
  const items = JSON.parse(readFileSync(tree, 'utf8')) as [string, TreeItem][]
  const { state } = await restoreTo(restores, new Map(items))
  if (state !== 'restored') throw new Error(state)
}
process.stdout.write(String(changes))
