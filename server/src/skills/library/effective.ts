import type { Executor } from '../../ports/database/port.ts'
import { type SourceRow, sourceStore } from '../sources/index.ts'
import { resolveNames } from './rules.ts'
import { entryStore } from './store.ts'

/**
 * The effective skills: for each name the winning entry of the enabled sources. Every displayed number of skills is
 * its length, without shadowed entries and disabled sources.
 */
export async function effectiveSkills(executor: Executor) {
  const sources = await sourceStore(executor).all()
  const enabled = sources.filter((source: SourceRow) => source.enabled === 1)
  return { sources, enabled, winners: resolveNames(enabled, await entryStore(executor).heads()) }
}
