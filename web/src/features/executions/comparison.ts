import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import type { ExecutionTrace } from '@roost/contracts/runs/fleet-executions'

export type Compared = { run: ExecutionDetails; trace: ExecutionTrace }

/** One figure of two runs. `difference`: the second minus the first; null when one is unknown. */
export type Figure = { name: FigureName; values: [number | null, number | null]; difference: number | null }

export type FigureName =
  | 'duration'
  | 'cost'
  | 'input'
  | 'output'
  | 'toolCalls'
  | 'toolFailures'
  | 'modelCalls'
  | 'firstToken'

const figures: { name: FigureName; of(side: Compared): number | null }[] = [
  { name: 'duration', of: ({ run }) => run.duration_ms },
  { name: 'cost', of: ({ run }) => run.cost },
  { name: 'input', of: ({ run }) => run.input_tokens },
  { name: 'output', of: ({ run }) => run.output_tokens },
  { name: 'modelCalls', of: ({ run, trace }) => trace.model_calls.length || run.num_turns },
  {
    name: 'firstToken',
    of: ({ trace }) => median(trace.model_calls.flatMap(({ first_token_ms }) => first_token_ms ?? [])),
  },
  { name: 'toolCalls', of: ({ run }) => run.tool_count ?? run.tool_calls.length },
  { name: 'toolFailures', of: ({ run }) => run.tool_calls.filter(({ success }) => success === false).length },
]

export function figuresOf(first: Compared, second: Compared): Figure[] {
  return figures.map(({ name, of }) => {
    const values: Figure['values'] = [of(first), of(second)]
    const [before, after] = values
    return { name, values, difference: before === null || after === null ? null : after - before }
  })
}

/** The calls of each tool in both runs, most used first. */
export function toolsOf(
  first: ExecutionDetails,
  second: ExecutionDetails,
): { tool: string; counts: [number, number] }[] {
  const counts = new Map<string, [number, number]>()
  for (const [index, { tool_calls }] of [first, second].entries()) {
    for (const { tool } of tool_calls) {
      const [one, other] = counts.get(tool) ?? [0, 0]
      counts.set(tool, index === 0 ? [one + 1, other] : [one, other + 1])
    }
  }
  return [...counts]
    .map(([tool, both]) => ({ tool, counts: both }))
    .sort((one, other) => sum(other.counts) - sum(one.counts) || one.tool.localeCompare(other.tool))
}

function sum([one, other]: [number, number]): number {
  return one + other
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null
}
