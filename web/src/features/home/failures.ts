import type { ExecutionSummary } from '@roost/contracts/runs/executions'

type Failure = Pick<
  ExecutionSummary,
  | 'id'
  | 'agent_name'
  | 'agent_deleted'
  | 'triggered_by'
  | 'error_summary'
  | 'error_code'
  | 'redacted'
  | 'created_at'
>

/** Failed runs with the same error code, whose errors have the same text apart from figures and names. */
export type FailureGroup<Run extends Failure = Failure> = {
  key: string
  /** The error of the newest run. */
  label: string
  /** Newest first. */
  runs: readonly [Run, ...Run[]]
  /** Each once, the one with the newest failure first. */
  agents: readonly string[]
}

const maxLabel = 160

/** Groups failed runs, newest first, by their error. The largest group is the first, of equal ones the newest. */
export function groupFailures<Run extends Failure>(failures: readonly Run[]): FailureGroup<Run>[] {
  const groups: FailureGroup<Run>[] = []
  for (const [key, [first, ...rest]] of Map.groupBy(failures, keyOf)) {
    if (first === undefined) continue
    groups.push({
      key,
      label: labelOf(first),
      runs: [first, ...rest],
      agents: [...new Set([first, ...rest].map(({ agent_name }) => agent_name))],
    })
  }
  return groups.sort((one, other) => other.runs.length - one.runs.length)
}

/**
 * The narrowest filter of the list of runs that has all runs of the group. The list cannot filter by the text of an
 * error, so it may have further failures with the same code.
 */
export function filterOf({ runs, agents }: FailureGroup): {
  error: string
  agent?: string
  trigger?: string
} {
  const [agent, ...otherAgents] = agents
  const [trigger, ...otherTriggers] = new Set(runs.map(({ triggered_by }) => triggered_by))
  return {
    error: runs[0].error_code ?? '',
    ...(agent !== undefined && otherAgents.length === 0 ? { agent } : {}),
    ...(trigger !== undefined && otherTriggers.length === 0 ? { trigger } : {}),
  }
}

function labelOf(run: Failure): string {
  if (run.redacted) return 'Private conversation'
  const line = errorLine(run)
  if (line === '') return 'No error message'
  return line.length > maxLabel ? `${line.slice(0, maxLabel).toWellFormed()}…` : line
}

function keyOf(run: Failure): string {
  const code = `${run.error_code}:`
  if (run.redacted) return `${code}redacted`
  const text = errorLine(run)
    .replaceAll(new RegExp(`\\b${run.agent_name}\\b`, 'g'), '…')
    .toLowerCase()
    .replaceAll(/[\w-]*\d[\w.,:-]*/g, '#')
    .slice(0, 120)
  return code + text
}

function errorLine({ error_summary }: Failure): string {
  const line = (error_summary ?? '').split('\n').find((each) => each.trim() !== '')
  return line?.trim() ?? ''
}
