/**
 * The API process. The compile cache saves the time and memory of stripping types and compiling at each start.
 * It must be enabled before the first module of the platform is loaded.
 */
import { enableCompileCache } from 'node:module'
import { resolve } from 'node:path'

enableCompileCache(resolve(import.meta.dirname, '../../../node_modules/.cache/roost'))
await import('./api-process.ts')
