/**
 * Fills Node's compile cache (`NODE_COMPILE_CACHE`) with the agent program while its image is built: types are
 * stripped here, and neither that time nor its memory is spent when an agent starts. Fails the build when the
 * program cannot even be loaded.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../agent/src/start.ts', import.meta.url))
const { NODE_COMPILE_CACHE, PATH } = process.env

// Without an agent's environment it gives up at once, in its own words, with everything loaded.
const { stderr, status, error } = spawnSync(process.execPath, [program], {
  env: { NODE_COMPILE_CACHE, PATH },
  encoding: 'utf8',
  timeout: 30_000,
})
// Node's own closing line stands only under an error that the program did not catch.
if (error || status === null || /^Node\.js v\d/m.test(stderr)) {
  console.error(`the agent program cannot be loaded: ${error?.message ?? stderr}`)
  process.exit(1)
}
