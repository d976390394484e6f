import type { Executor } from '../../ports/database/port.ts'
import { type SourceRow, sourceStore } from '../sources/index.ts'
import { resolveNames } from './rules.ts'
import { entryStore } from './store.ts'

/**
 * What the library offers: of each name the entry that wins among the enabled sources. Its length is the number of
 * skills wherever one is shown; shadowed entries and disabled sources do not count.
 */
export async function effectiveSkills(executor: Executor) {
  const sources = await sourceStore(executor).all()
  const enabled = sources.filter((source: SourceRow) => source.enabled === 1)
  return { sources, enabled, winners: resolveNames(enabled, await entryStore(executor).heads()) }
}
