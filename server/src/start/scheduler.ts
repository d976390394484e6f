/** The scheduler process. `api.ts` explains the cache. */
import { enableCompileCache } from 'node:module'
import { resolve } from 'node:path'

enableCompileCache(resolve(import.meta.dirname, '../../../node_modules/.cache/roost'))
await import('./scheduler-process.ts')
