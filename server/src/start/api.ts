/**
 * The API process. Types are stripped and code is compiled once and kept, so that a start costs neither the
 * time nor the memory for it; the cache must be on before the first module of the platform is read.
 */
import { enableCompileCache } from 'node:module'
import { resolve } from 'node:path'

enableCompileCache(resolve(import.meta.dirname, '../../../node_modules/.cache/roost'))
await import('./api-process.ts')
