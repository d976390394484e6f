import { type Interruption, unlessGivenUp } from './abortable.ts'
import { gather, untilQuiet } from './aftermath.ts'
import { type Blow, blowsOf } from './blows.ts'
import { violationsOf } from './judge.ts'
import { startLoad } from './load.ts'
import { startOperator } from './operator.ts'
import type { ChaosOptions } from './options.ts'
import { createChance } from './random.ts'
import type { Findings } from './report.ts'
import { createAsks } from './requests.ts'
import { besiege, residentMegabytes } from './siege.ts'
import { openWorld } from './world.ts'

/** Runs the whole test: a platform under load, blows, an idle phase, and the checks from outside. */
export async function runChaos(
  options: ChaosOptions,
  {
    tag,
    progress,
    enough,
    hurry,
  }: { tag: string; progress(text: string): void } & Pick<Interruption, 'enough' | 'hurry'>,
): Promise<Findings> {
  await using world = await openWorld(options, tag, enough)
  progress(`${world.agents.length} agents are up, seed ${options.seed}`)
  const chance = createChance(options.seed)
  await using operator = startOperator(world)
  const load = startLoad(world.platform, {
    inFlight: options.inFlight,
    nextAsk: createAsks(chance.fork(), world.agents),
    chance: chance.fork(),
  })
  const blows: Blow[] = blowsOf(options.scenario, world, chance.fork())
  const { kills } = options
  const { starts } = operator
  const siege = await besiege(world, { enough, blows, kills, chance: chance.fork(), progress, starts })
  const lastBlow = performance.now()
  await unlessGivenUp(hurry, load.stop())
  await unlessGivenUp(hurry, untilQuiet(world))
  const quietAfterMs = performance.now() - lastBlow
  progress(`quiet after ${(quietAfterMs / 1000).toFixed(1)} s`)
  const apiMegabytes = residentMegabytes(world.platform.apiPid())
  const evidence = await unlessGivenUp(hurry, gather(world, load, siege.crashes))
  const violations = violationsOf(evidence)
  return { options, siege, evidence, violations, quietAfterMs, apiMegabytes, starts: starts() }
}
