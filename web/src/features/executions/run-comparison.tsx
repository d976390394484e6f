import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import type { ExecutionTrace } from '@roost/contracts/runs/fleet-executions'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState } from 'react'
import { costText, formatDuration, formatNumber } from '../../lib/format.ts'
import { Markdown } from '../../ui/markdown.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { linkClass } from './cause-link.tsx'
import { type Compared, type FigureName, figuresOf, toolsOf } from './comparison.ts'
import { ExecutionStatus } from './execution-status.tsx'
import { titleOf } from './first-line.ts'
import { pageOf } from './run-page.ts'
import { RunTrace } from './run-trace.tsx'
import { traceOf } from './trace.ts'

/** Two runs side by side. */
export function RunComparison({ first, second }: { first: Compared; second: Compared }) {
  const runs = [first.run, second.run] as const
  return (
    <>
      <PageHeader
        title="Compare runs"
        back={<Link {...pageOf(first.run)}>Run of {first.run.agent_name}</Link>}
        description="The older run is on the left. Differences are those of the right run."
      />
      <div className="flex flex-col gap-6">
        <Sides label="Runs">
          {runs.map((run, index) => (
            <Heading key={run.id} run={run} index={index} />
          ))}
        </Sides>
        <Figures first={first} second={second} />
        <Tools first={first.run} second={second.run} />
        <Sides label="Prompts">
          {runs.map((run, index) => (
            <Prompt key={run.id} run={run} index={index} />
          ))}
        </Sides>
        <Sides label="Results">
          {runs.map((run, index) => (
            <Result key={run.id} run={run} index={index} />
          ))}
        </Sides>
        <Sides label="Traces">
          {[first, second].map((side, index) => (
            <SideTrace key={side.run.id} {...side} index={index} />
          ))}
        </Sides>
      </div>
    </>
  )
}

const sideNames = ['Left run', 'Right run'] as const

function Sides({ label, children }: { label: string; children: ReactNode }) {
  return (
    <section aria-label={label} className="grid min-w-0 gap-x-8 gap-y-4 md:grid-cols-2">
      {children}
    </section>
  )
}

function Heading({ run, index }: { run: ExecutionDetails; index: number }) {
  return (
    <div className="min-w-0">
      <h2 className="text-muted text-xs">{sideNames[index]}</h2>
      <Link {...pageOf(run)} className={`${linkClass} line-clamp-2 font-semibold text-sm`}>
        {run.redacted ? 'Private conversation' : titleOf(run.message)}
      </Link>
      <p className="mt-1 flex flex-wrap items-center gap-x-3 text-muted text-xs">
        <ExecutionStatus status={run.status} />
        <span>{run.agent_name}</span>
        <span>{run.model_used ?? run.model}</span>
        <RelativeTime at={run.created_at} />
      </p>
    </div>
  )
}

/** With the typographic minus, like durations. */
const signed = (value: number) => formatNumber(value).replace('-', '−')

const figureWords: Record<FigureName, { label: string; format: (value: number) => string }> = {
  duration: { label: 'Duration', format: formatDuration },
  cost: {
    label: 'Cost',
    format: (value) => (value < 0 ? `−${costText(-value, false)}` : costText(value, false)),
  },
  input: { label: 'Tokens in', format: signed },
  output: { label: 'Tokens out', format: signed },
  modelCalls: { label: 'Model calls', format: signed },
  firstToken: { label: 'Median time to first token', format: formatDuration },
  toolCalls: { label: 'Tool calls', format: signed },
  toolFailures: { label: 'Failed tool calls', format: signed },
}

function Figures({ first, second }: { first: Compared; second: Compared }) {
  return (
    <Table caption="Figures">
      {figuresOf(first, second).map(({ name, values, difference }) => {
        const { label, format } = figureWords[name]
        return (
          <TableRow
            key={name}
            label={label}
            cells={[
              ...values.map((value) => (value === null ? '–' : format(value))),
              difference === null || difference === 0
                ? '–'
                : `${difference > 0 ? '+' : ''}${format(difference)}`,
            ]}
          />
        )
      })}
    </Table>
  )
}

function Tools({ first, second }: { first: ExecutionDetails; second: ExecutionDetails }) {
  const tools = toolsOf(first, second)
  if (tools.length === 0) return null
  return (
    <Table caption="Calls by tool">
      {tools.map(({ tool, counts: [one, other] }) => {
        const difference = other - one
        return (
          <TableRow
            key={tool}
            label={tool}
            cells={[
              one,
              other,
              difference === 0 ? '–' : `${difference > 0 ? '+' : ''}${signed(difference)}`,
            ].map(String)}
          />
        )
      })}
    </Table>
  )
}

function Table({ caption, children }: { caption: string; children: ReactNode }) {
  return (
    <table className="w-full table-fixed text-sm">
      <caption className="pb-1 text-left font-semibold">{caption}</caption>
      <thead>
        <tr className="border-line border-b text-left text-muted text-xs">
          <th scope="col" className="w-2/5 py-1.5 font-normal">
            Name
          </th>
          {['Left', 'Right', 'Difference'].map((name) => (
            <th key={name} scope="col" className="py-1.5 text-right font-normal">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}

function TableRow({ label, cells }: { label: string; cells: string[] }) {
  return (
    <tr className="border-line border-b">
      <th scope="row" className="py-1.5 pr-2 text-left font-normal break-words">
        {label}
      </th>
      {cells.map((cell, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its column
        <td key={index} data-numeric className="py-1.5 text-right">
          {cell}
        </td>
      ))}
    </tr>
  )
}

function Prompt({ run, index }: { run: ExecutionDetails; index: number }) {
  return (
    <div className="min-w-0">
      <h3 className="mb-1 font-semibold text-sm">Prompt of the {sideNames[index]?.toLowerCase()}</h3>
      <ScrollRegion
        label={`Text of the prompt, ${sideNames[index]?.toLowerCase()}`}
        className="max-h-60 overflow-y-auto whitespace-pre-wrap text-sm [overflow-wrap:anywhere]"
      >
        {run.message ?? 'Private conversation'}
      </ScrollRegion>
    </div>
  )
}

function Result({ run, index }: { run: ExecutionDetails; index: number }) {
  const text = run.response?.trim() || run.error || 'No answer.'
  return (
    <div className="min-w-0 rounded-lg border border-line bg-surface px-4 py-3">
      <h3 className="mb-1 font-semibold text-sm">Result of the {sideNames[index]?.toLowerCase()}</h3>
      <ScrollRegion
        label={`Text of the result, ${sideNames[index]?.toLowerCase()}`}
        className="max-h-80 overflow-y-auto"
      >
        <Markdown text={text} />
      </ScrollRegion>
    </div>
  )
}

function SideTrace({ run, trace, index }: { run: ExecutionDetails; trace: ExecutionTrace; index: number }) {
  const [selected, setSelected] = useState<string | null>(null)
  const startedAt = run.started_at ?? run.created_at
  const spans = useMemo(
    () =>
      traceOf({
        steps: [],
        toolCalls: run.tool_calls,
        modelCalls: trace.model_calls,
        startedRuns: trace.started_runs,
        startedAt,
        nowMs: null,
      }),
    [run.tool_calls, trace, startedAt],
  )
  return (
    <div className="min-w-0">
      <h3 className="mb-1 font-semibold text-sm">Trace of the {sideNames[index]?.toLowerCase()}</h3>
      <RunTrace
        trace={spans}
        label={`Trace of the ${sideNames[index]?.toLowerCase()}`}
        startedAt={startedAt}
        selected={selected}
        onSelect={setSelected}
      />
    </div>
  )
}
