import { parseArgs } from 'node:util'

export const scenarios = ['api', 'agents', 'postgres', 'redis', 'engine', 'all'] as const
export type Scenario = (typeof scenarios)[number]
export const databases = ['sqlite', 'postgres'] as const
export type Database = (typeof databases)[number]

export type ChaosOptions = {
  scenario: Scenario
  database: Database
  kills: number
  seed: number
  /** Number of concurrent open runs. */
  inFlight: number
  /** Runtime of each agent. */
  agents: string[]
  /** Folder of the report. */
  out: string
}

export const usage = `node bench/chaos/main.ts [options]
  --scenario  ${scenarios.join(' | ')} (default api)
  --database  ${databases.join(' | ')} (default sqlite; postgres for the scenarios postgres, redis and all)
  --kills     number of blows (default 200)
  --runs      concurrent open runs (default 50)
  --agents    runtimes, one agent per entry (default claude-code,codex,claude-code,codex)
  --seed      integer (default: random, printed)
  --out       folder of the reports (default artifacts/chaos)`

/** Throws an Error that names the option and its rule. */
export function readOptions(args: string[], chance: () => number): ChaosOptions {
  const { values } = parseArgs({
    args,
    options: {
      scenario: { type: 'string', default: 'api' },
      database: { type: 'string' },
      kills: { type: 'string', default: '200' },
      runs: { type: 'string', default: '50' },
      agents: { type: 'string', default: 'claude-code,codex,claude-code,codex' },
      seed: { type: 'string' },
      out: { type: 'string', default: 'artifacts/chaos' },
    },
  })
  const scenario = oneOf('--scenario', values.scenario, scenarios)
  const needsPostgres = scenario === 'postgres' || scenario === 'redis' || scenario === 'all'
  const database = oneOf('--database', values.database ?? (needsPostgres ? 'postgres' : 'sqlite'), databases)
  if (scenario === 'postgres' && database !== 'postgres') {
    throw new Error('--scenario postgres requires --database postgres.')
  }
  return {
    scenario,
    database,
    kills: whole('--kills', values.kills, 1),
    seed: values.seed === undefined ? Math.floor(chance() * 1_000_000) : whole('--seed', values.seed, 0),
    inFlight: whole('--runs', values.runs, 1),
    agents: values.agents.split(','),
    out: values.out,
  }
}

function oneOf<T extends string>(name: string, text: string, offered: readonly T[]): T {
  const value = offered.find((each) => each === text)
  if (value === undefined) throw new Error(`${name} must be one of ${offered.join(', ')}.`)
  return value
}

function whole(name: string, text: string, minimum: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < minimum)
    throw new Error(`${name} must be an integer of at least ${minimum}.`)
  return value
}
