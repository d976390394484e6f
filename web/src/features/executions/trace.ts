import type { ExecutionSummary, ModelCall, ToolCall } from '@roost/contracts/runs/executions'
import type { Step, ToolStep } from '../transcripts/steps.ts'
import { summaryOf } from '../transcripts/tool-input.ts'
import { firstLine } from './first-line.ts'
import { timelineOf } from './timeline.ts'

export type SpanKind = 'model' | 'tool' | 'agent' | 'run'

/** One bar of a trace. Times are ms since the start of the axis. */
export type Span = {
  /** Stays the same after a reload, so that the address can name it. */
  id: string
  /** `agent`: the tool call of a subagent. `run`: a run that this run started. */
  kind: SpanKind
  label: string
  /** The start of the input, of the model's name or of the message; may be empty. */
  summary: string
  state: 'running' | 'done' | 'failed'
  startMs: number
  durationMs: number
  /** The transcript line that belongs to it; null when none is stored. */
  line: number | null
  children: Span[]
  call?: ModelCall
  step?: ToolStep
  tool?: ToolCall
  run?: ExecutionSummary
}

export type Trace = {
  spans: readonly Span[]
  /** The length of the axis, at least 1 ms. */
  lengthMs: number
  modelMs: number
  toolMs: number
  /** The span of each transcript line that has one. */
  byLine: ReadonlyMap<number, string>
}

export type TraceSource = {
  /** Of a run without a transcript in the browser: `toolCalls` instead. */
  steps: readonly Step[]
  toolCalls?: readonly ToolCall[]
  modelCalls: readonly ModelCall[]
  startedRuns: readonly ExecutionSummary[]
  /** The start of the axis, ISO 8601. */
  startedAt: string
  /** The current time while the run is running, else null. */
  nowMs: number | null
}

/**
 * The spans of a run as a tree: subagents contain their calls, and a tool call contains the runs that it started. Runs
 * without stored model calls get model spans from the times of their answers.
 */
export function traceOf(source: TraceSource): Trace {
  const { steps, modelCalls, startedRuns, startedAt, nowMs } = source
  const origin = Date.parse(startedAt)
  const parents = new Set(steps.flatMap(({ parent }) => parent ?? []))
  const tools = new Map<string, Span>()
  for (const step of steps)
    if (step.kind === 'tool' && step.at !== null)
      tools.set(step.id, spanOfStep(step, { origin, nowMs, parents }))
  for (const tool of source.toolCalls ?? [])
    if (!tools.has(tool.id)) tools.set(tool.id, spanOfTool(tool, origin))

  const roots: Span[] = []
  const parentOf = new Map(
    steps.flatMap((step) => (step.kind === 'tool' ? [[step.id, step.parent] as const] : [])),
  )
  for (const [id, span] of tools) (tools.get(parentOf.get(id) ?? '')?.children ?? roots).push(span)

  const agents = [...tools.values()].filter(({ kind }) => kind === 'agent')
  const models =
    modelCalls.length > 0
      ? modelCalls.map((call) => spanOfCall(call, origin))
      : inferredModels(steps, source, tools)
  for (const { span, parent } of models.map((span) => ({ span, parent: agentAround(agents, span) })))
    (parent?.children ?? roots).push(span)

  const leaves = [...tools.values()].filter(({ kind }) => kind === 'tool').sort(byStart)
  for (const run of startedRuns) {
    const span = spanOfRun(run, { origin, nowMs })
    ;(callAround(leaves, span)?.children ?? roots).push(span)
  }

  sortTree(roots)
  const byLine = linkLines(steps, { roots, tools, origin, isInferred: modelCalls.length === 0 })
  const all = [...walk(roots)]
  const ofKind = (...kinds: SpanKind[]) => unionMs(all.filter(({ kind }) => kinds.includes(kind)))
  return {
    spans: roots,
    lengthMs: Math.max(
      1,
      nowMs === null ? 0 : nowMs - origin,
      all.reduce((end, { startMs, durationMs }) => Math.max(end, startMs + durationMs), 0),
    ),
    modelMs: ofKind('model'),
    toolMs: unionMs(roots.filter(({ kind }) => kind !== 'model')),
    byLine,
  }
}

/** All spans, parents before their children. */
export function* walk(spans: readonly Span[]): Generator<Span> {
  for (const span of spans) {
    yield span
    yield* walk(span.children)
  }
}

type Now = { origin: number; nowMs: number | null }

function spanOfStep(
  step: ToolStep,
  { origin, nowMs, parents }: Now & { parents: ReadonlySet<string> },
): Span {
  const startMs = atLeast0(Date.parse(step.at ?? '') - origin)
  const isRunning = step.state === 'running'
  return {
    id: `tool:${step.id}`,
    kind: parents.has(step.id) ? 'agent' : 'tool',
    label: toolLabel(step.name),
    summary: summaryOf(step.input),
    state: isRunning ? 'running' : step.state === 'done' ? 'done' : 'failed',
    startMs,
    durationMs: step.durationMs ?? (isRunning && nowMs !== null ? atLeast0(nowMs - origin - startMs) : 0),
    line: step.line,
    children: [],
    step,
  }
}

function spanOfTool(tool: ToolCall, origin: number): Span {
  return {
    id: `tool:${tool.id}`,
    kind: 'tool',
    label: toolLabel(tool.tool),
    summary: tool.input_summary,
    state: tool.success === null ? 'running' : tool.success ? 'done' : 'failed',
    startMs: atLeast0(Date.parse(tool.started_at) - origin),
    durationMs: tool.duration_ms ?? 0,
    line: null,
    children: [],
    tool,
  }
}

function spanOfCall(call: ModelCall, origin: number): Span {
  return {
    id: `model:${call.id}`,
    kind: 'model',
    label: 'Model call',
    summary: call.model ?? '',
    state: call.status === null || call.status >= 400 ? 'failed' : 'done',
    startMs: atLeast0(Date.parse(call.started_at) - origin),
    durationMs: call.duration_ms,
    line: null,
    children: [],
    call,
  }
}

function spanOfRun(run: ExecutionSummary, { origin, nowMs }: Now): Span {
  const startMs = atLeast0(Date.parse(run.created_at) - origin)
  const end = run.completed_at === null ? (nowMs ?? Date.parse(run.created_at)) : Date.parse(run.completed_at)
  return {
    id: `run:${run.id}`,
    kind: 'run',
    label: run.agent_name,
    summary: run.redacted ? 'Private conversation' : firstLine(run.message, 120),
    state: run.completed_at === null ? 'running' : run.status === 'success' ? 'done' : 'failed',
    startMs,
    durationMs: atLeast0(end - origin - startMs),
    line: null,
    children: [],
    run,
  }
}

/** Model time from answers and the gaps before calls, for runs whose model calls are not stored. */
function inferredModels(
  steps: readonly Step[],
  { startedAt, nowMs }: Pick<TraceSource, 'startedAt' | 'nowMs'>,
  tools: ReadonlyMap<string, Span>,
): Span[] {
  if (steps.length === 0) return []
  const parentOf = new Map(steps.map(({ key, parent }) => [key, parent]))
  const spans: Span[] = []
  for (const { key, kind, label, startMs, durationMs, line } of timelineOf(steps, { startedAt, nowMs })
    .segments) {
    if (kind !== 'model') continue
    const span: Span = {
      ...{ id: `text:${key}`, kind, label, summary: '', state: 'done', startMs, durationMs, line },
      children: [],
    }
    const parent = parentOf.get(key)
    if (parent) tools.get(parent)?.children.push(span)
    else spans.push(span)
  }
  return spans
}

/** Times of the broker and of the transcript differ by the way of a line. */
const slackMs = 250

function contains(outer: Span, inner: Pick<Span, 'startMs' | 'durationMs'>): boolean {
  if (inner.startMs < outer.startMs) return false
  if (outer.state === 'running') return true
  return inner.startMs + inner.durationMs <= outer.startMs + outer.durationMs + slackMs
}

/** The innermost subagent during which a model call ran. */
function agentAround(agents: readonly Span[], call: Span): Span | undefined {
  return agents
    .filter((agent) => contains(agent, call))
    .reduce<Span | undefined>(
      (inner, agent) => (inner && inner.startMs > agent.startMs ? inner : agent),
      undefined,
    )
}

/** The tool call during which a run was started; an MCP tool before others. */
function callAround(leaves: readonly Span[], run: Span): Span | undefined {
  const at = { startMs: run.startMs + slackMs, durationMs: -slackMs }
  const around = leaves.filter((leaf) => contains(leaf, at))
  return around.findLast(({ step, tool }) => /^mcp__/.test(step?.name ?? tool?.tool ?? '')) ?? around.at(-1)
}

/**
 * Finds the span of each line, and gives each model call the first line that it produced: the lines between its start
 * and that of the next call of the same agent.
 */
function linkLines(
  steps: readonly Step[],
  of: { roots: readonly Span[]; tools: ReadonlyMap<string, Span>; origin: number; isInferred: boolean },
): Map<number, string> {
  const byLine = new Map<number, string>()
  const callsOf = new Map<string | null, Span[]>()
  const calls = (parent: string | null) => {
    const known = callsOf.get(parent)
    if (known) return known
    const within = parent === null ? of.roots : (of.tools.get(parent)?.children ?? [])
    const found = within.filter(({ kind }) => kind === 'model')
    callsOf.set(parent, found)
    return found
  }
  for (const step of steps) {
    if (step.line === null || step.at === null) continue
    if (step.kind === 'tool') {
      byLine.set(step.line, `tool:${step.id}`)
      if (step.result?.line != null) byLine.set(step.result.line, `tool:${step.id}`)
    }
    if (of.isInferred || !['tool', 'text', 'thinking'].includes(step.kind)) continue
    const call = lastBefore(calls(step.parent), Date.parse(step.at) - of.origin)
    if (!call) continue
    call.line ??= step.line
    if (!byLine.has(step.line)) byLine.set(step.line, call.id)
  }
  if (of.isInferred) {
    for (const { kind, line, id } of walk(of.roots))
      if (kind === 'model' && line !== null && !byLine.has(line)) byLine.set(line, id)
  }
  return byLine
}

/** The last of these sorted spans that starts before a time, by bisection. */
function lastBefore(spans: readonly Span[], ms: number): Span | undefined {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.startMs ?? 0) <= ms) low = middle + 1
    else high = middle
  }
  return spans[low - 1]
}

function sortTree(spans: Span[]): void {
  spans.sort(byStart)
  for (const { children } of spans) if (children.length > 0) sortTree(children)
}

function byStart(one: Span, other: Span): number {
  return one.startMs - other.startMs || other.durationMs - one.durationMs
}

/** Time that at least one span covers. */
function unionMs(spans: readonly Span[]): number {
  let [total, end] = [0, 0]
  for (const { startMs, durationMs } of spans.toSorted(byStart)) {
    total += Math.max(0, startMs + durationMs - Math.max(end, startMs))
    end = Math.max(end, startMs + durationMs)
  }
  return total
}

/** Tools of MCP servers contain the server name. */
function toolLabel(name: string): string {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? []
  return (server && tool ? `${server} · ${tool}` : name).slice(0, 60)
}

function atLeast0(ms: number): number {
  return Number.isFinite(ms) ? Math.max(0, ms) : 0
}
