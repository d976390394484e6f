import { Link } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { formatDuration, formatNumber } from '../../lib/format.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Cost } from '../../ui/cost.tsx'
import { type KeyValue, KeyValues } from '../../ui/key-values.tsx'
import { Duration } from '../../ui/time.tsx'
import { ToolInputView } from '../transcripts/tool-input-view.tsx'
import { linkClass } from './cause-link.tsx'
import { ExecutionStatus } from './execution-status.tsx'
import { pageOf } from './run-page.ts'
import type { Span } from './trace.ts'

/** Longer outputs are read in the transcript. */
const outputCharacters = 4000

export type TraceDetailsProps = {
  span: Span
  onLine?: ((line: number) => void) | undefined
  onClose: () => void
}

/** What the selected span is: figures of a model call, input and output of a tool call, or the started run. */
export function TraceDetails({ span, onLine, onClose }: TraceDetailsProps) {
  const { label, line, step, tool } = span
  return (
    <section
      aria-label="Selected span"
      className="flex min-h-0 min-w-0 flex-col gap-2 overflow-y-auto rounded-md border border-line bg-surface p-3"
    >
      <div className="flex items-center gap-2">
        <p className="min-w-0 flex-1 truncate font-semibold text-sm">{label}</p>
        {line !== null && onLine && (
          <Button size="sm" onClick={() => onLine(line)}>
            Show line {line}
          </Button>
        )}
        <IconButton size="sm" label="Close details" icon={<X aria-hidden />} onClick={onClose} />
      </div>
      <KeyValues items={[...factsOf(span), ...timesOf(span)]} />
      {step && <ToolInputView input={step.input} />}
      {step?.result && step.result.content !== '' && (
        <CodeBlock
          code={step.result.content.slice(0, outputCharacters).toWellFormed()}
          language=""
          title={step.state === 'failed' ? 'Error output' : 'Output'}
        />
      )}
      {step?.result && step.result.content.length > outputCharacters && (
        <p className="text-muted text-xs">The transcript has the whole output.</p>
      )}
      {tool && tool.input_summary !== '' && <CodeBlock code={tool.input_summary} language="" title="Input" />}
    </section>
  )
}

function timesOf({ startMs, durationMs }: Span): KeyValue[] {
  return [
    { label: 'Started', value: `${formatDuration(startMs)} after the start` },
    { label: 'Duration', value: <Duration ms={durationMs} /> },
  ]
}

function factsOf({ call, run, state, kind }: Span): KeyValue[] {
  if (call) {
    const cached = call.cache_creation_tokens + call.cache_read_tokens
    return [
      { label: 'Model', value: call.model },
      {
        label: 'Tokens',
        value: `${formatNumber(call.input_tokens)} in, ${formatNumber(call.output_tokens)} out`,
      },
      ...(cached > 0
        ? [
            {
              label: 'Cache',
              value: `${formatNumber(call.cache_read_tokens)} read, ${formatNumber(call.cache_creation_tokens)} written`,
            },
          ]
        : []),
      { label: 'Cost', value: <Cost usd={call.cost} isEstimated={call.cost_estimated} /> },
      { label: 'First token', value: <Duration ms={call.first_token_ms} /> },
      ...(state === 'failed'
        ? [{ label: 'Failed', value: call.status === null ? 'No response' : `HTTP ${call.status}` }]
        : []),
    ]
  }
  if (run) {
    return [
      { label: 'Agent', value: run.agent_name },
      { label: 'Status', value: <ExecutionStatus status={run.status} /> },
      { label: 'Cost', value: <Cost usd={run.cost} isEstimated={run.cost_estimated} /> },
      {
        label: 'Run',
        value: (
          <Link {...pageOf(run)} className={linkClass}>
            Open this run
          </Link>
        ),
      },
    ]
  }
  if (kind === 'model') return []
  return [{ label: 'State', value: state === 'done' ? 'Done' : state === 'failed' ? 'Failed' : 'Running' }]
}
