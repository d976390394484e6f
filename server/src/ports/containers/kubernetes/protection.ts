import type { Clock } from '../../../kit/clock.ts'
import type { Api } from './api.ts'
import { isStatus } from './faults.ts'
import type { Entry } from './objects.ts'
import { busyLabel, idLabel, installLabel } from './record.ts'

/**
 * Labels the pods of protected containers. The PodDisruptionBudget of the chart selects the label and allows no
 * eviction, so a drain waits until the label is removed.
 */
export type Protection = {
  /** See `Containers.protect`. Compares with the cluster after a change, and once a minute. */
  protect(ids: ReadonlySet<string>): Promise<void>
}

/** A protected container may get another pod. */
const compareEveryMs = 60_000
/** Ids per request, because they are in its URL. */
const idsPerRequest = 50

export function createProtection({
  api,
  install,
  clock,
}: {
  api: Api
  install: string
  clock: Pick<Clock, 'now'>
}): Protection {
  let applied: { ids: ReadonlySet<string>; at: number } | null = null

  /** Without pods that are ending: no budget protects them. */
  async function list(selector: string): Promise<Entry[]> {
    const labelSelector = `${installLabel}=${install},${selector}`
    const { items } = await api.list<Entry>('pods', { labelSelector }, { onlyMetadata: true })
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  }

  async function label({ metadata }: Entry, value: 'true' | null): Promise<void> {
    await api
      .patch('pods', metadata.name, { metadata: { uid: metadata.uid, labels: { [busyLabel]: value } } })
      .catch((error: unknown) => {
        // Deleted meanwhile, or replaced by a pod of the same name.
        if (!isStatus(error, 404, 409)) throw error
      })
  }

  return {
    async protect(ids) {
      const now = clock.now().getTime()
      if (applied && now - applied.at < compareEveryMs && isSame(applied.ids, ids)) return
      applied = null
      const missing = new Set(ids)
      for (const pod of await list(busyLabel)) {
        if (ids.has(idOf(pod))) missing.delete(idOf(pod))
        else await label(pod, null)
      }
      const unlabelled = [...missing]
      for (let from = 0; from < unlabelled.length; from += idsPerRequest) {
        const some = unlabelled.slice(from, from + idsPerRequest)
        for (const pod of await list(`${idLabel} in (${some.join(',')})`)) {
          await label(pod, 'true')
          missing.delete(idOf(pod))
        }
      }
      // The next call looks again for pods that do not exist yet.
      if (missing.size === 0) applied = { ids: new Set(ids), at: now }
    },
  }
}

const idOf = ({ metadata }: Entry) => metadata.labels?.[idLabel] ?? ''

const isSame = (a: ReadonlySet<string>, b: ReadonlySet<string>) =>
  a.size === b.size && [...a].every((id) => b.has(id))
