import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { repository } from '../machine/repository.ts'
import { runFiles, type StageOptions } from './stages.ts'

/** Rounds over all operations of the API; a run of all tests makes three. */
const manyRounds = '60'

/**
 * The environment of a long fuzz test: many rounds and a new seed, unless the caller sets `ROOST_FUZZ_ROUNDS` or
 * `ROOST_FUZZ_SEED`. The titles of the tests name the seed, which repeats the run.
 */
export function fuzzEnvironment(env: NodeJS.ProcessEnv, newSeed: () => number): NodeJS.ProcessEnv {
  const { ROOST_FUZZ_ROUNDS = manyRounds, ROOST_FUZZ_SEED = String(newSeed()) } = env
  return { ...env, ROOST_FUZZ_ROUNDS, ROOST_FUZZ_SEED, NODE_ENV: 'test' }
}

/** Runs it once: a second run could hide what the first one found. Returns whether every reply was documented. */
export async function runFuzz({ signal }: Pick<StageOptions, 'signal'>): Promise<boolean> {
  const env = fuzzEnvironment(process.env, () => randomInt(2 ** 31))
  const file = join(repository.root, 'checks/openapi/fuzz.test.ts')
  return (await runFiles([file], [], { env, signal, concurrency: 1 })).isGreen
}
