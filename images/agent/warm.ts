/**
 * Fills Node's compile cache (`NODE_COMPILE_CACHE`) with the agent program while its image is built. An agent's start
 * then spends neither time nor memory on stripping types. Fails the build when the program cannot be loaded.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../agent/src/start.ts', import.meta.url))
const { NODE_COMPILE_CACHE, PATH } = process.env

// Without an agent's environment the program loads everything, then exits with its own error.
const { stderr, status, error } = spawnSync(process.execPath, [program], {
  env: { NODE_COMPILE_CACHE, PATH },
  encoding: 'utf8',
  timeout: 30_000,
})
// Node prints its version line only after an uncaught error.
if (error || status === null || /^Node\.js v\d/m.test(stderr)) {
  console.error(`the agent program cannot be loaded: ${error?.message ?? stderr}`)
  process.exit(1)
}
