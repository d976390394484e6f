import type { Histogram } from '../../kit/meters.ts'
import type { Containers } from './port.ts'

/** Everything that asks the engine and ends. `events` stays open, and `sample` of the sandbox asks no engine. */
const timed: ReadonlySet<string> = new Set<keyof Containers>([
  'ping',
  'hasImage',
  'ensureNetwork',
  'ensureClosedNetwork',
  'create',
  'start',
  'stop',
  'remove',
  'inspect',
  'list',
  'logs',
  'sample',
  'diskFigures',
  'createVolume',
  'removeVolume',
  'listVolumes',
])

/** The same engine; each request is observed with its operation and result. */
export function timedContainers(containers: Containers, seconds: Pick<Histogram, 'observe'>): Containers {
  return new Proxy(containers, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (typeof name !== 'string' || !timed.has(name)) return value.bind(target)
      return async (...parameters: unknown[]) => {
        const startedAt = performance.now()
        let result = 'error'
        try {
          const answer = await value.apply(target, parameters)
          result = 'ok'
          return answer
        } finally {
          seconds.observe([name, result], (performance.now() - startedAt) / 1000)
        }
      }
    },
  })
}
