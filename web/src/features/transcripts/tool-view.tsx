import {
  Bot,
  CircleCheck,
  CircleDashed,
  CircleX,
  FilePen,
  FileText,
  Globe,
  type LucideIcon,
  Search,
  SquareTerminal,
  Wrench,
} from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { Duration } from '../../ui/time.tsx'
import { Fold } from './fold.tsx'
import type { ToolStep } from './steps.ts'
import { summaryOf } from './tool-input.ts'
import { ToolInputView } from './tool-input-view.tsx'

/** One tool call: a line that opens to show input and output. */
export function ToolView({ step }: { step: ToolStep }) {
  const Icon = iconOf(step.name)
  return (
    <Fold
      icon={<Icon aria-hidden className="size-4 shrink-0 text-muted" />}
      title={titleOf(step.name)}
      summary={summaryOf(step.input)}
      detail={
        <>
          {step.durationMs !== null && <Duration ms={step.durationMs} />}
          <State state={step.state} />
        </>
      }
    >
      <div className="flex min-w-0 flex-col gap-2.5">
        <ToolInputView input={step.input} />
        <Output step={step} />
      </div>
    </Fold>
  )
}

function State({ state }: { state: ToolStep['state'] }) {
  switch (state) {
    case 'running':
      return (
        <>
          <Spinner />
          <span className="sr-only">Running</span>
        </>
      )
    case 'done':
      return <CircleCheck role="img" aria-label="Done" className="size-3.5 text-success" />
    case 'failed':
      return <CircleX role="img" aria-label="Failed" className="size-3.5 text-danger" />
    case 'unfinished':
      return <CircleDashed role="img" aria-label="Unfinished" className="size-3.5 text-warning" />
  }
}

function Output({ step: { result, state } }: { step: ToolStep }) {
  const [isWhole, setIsWhole] = useState(false)
  if (!result) {
    const words =
      state === 'unfinished' ? 'The run ended before this call returned a result.' : 'Waiting for the result…'
    return <p className="text-xs text-muted">{words}</p>
  }
  if (result.content === '') return <p className="text-xs text-muted">No output.</p>
  const shown = isWhole ? result.content : startOf(result.content)
  const isJson = shown === result.content && looksLikeJson(shown)
  return (
    <div className="min-w-0">
      <CodeBlock
        code={shown}
        language={isJson ? 'json' : ''}
        title={state === 'failed' ? 'Error output' : 'Output'}
      />
      {shown !== result.content && (
        <Button size="sm" variant="ghost" className="mt-1" onClick={() => setIsWhole(true)}>
          Show all {result.content.length.toLocaleString('en')} characters
        </Button>
      )}
      {result.isCut && (
        <p className="mt-1 text-xs text-muted">The output exceeded the size limit and was truncated.</p>
      )}
    </div>
  )
}

const firstLines = 40
const firstCharacters = 4000

function startOf(text: string): string {
  const start = text.slice(0, firstCharacters).split('\n', firstLines).join('\n')
  // Hiding only a few lines would just cost a click.
  return text.length - start.length < 200 ? text : start
}

function looksLikeJson(text: string): boolean {
  return /^\s*[[{]/.test(text) && /[\]}]\s*$/.test(text)
}

/** Tools of MCP servers contain the server name. */
function titleOf(name: string): string {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? []
  return (server && tool ? `${server} · ${tool}` : name).slice(0, 60)
}

function iconOf(name: string): LucideIcon {
  const [, icon] = icons.find(([pattern]) => pattern.test(name)) ?? []
  return icon ?? Wrench
}

const icons: [RegExp, LucideIcon][] = [
  [/^mcp__/i, Wrench],
  [/bash|shell|command|exec/i, SquareTerminal],
  [/web|fetch|http|url/i, Globe],
  [/write|edit|replace|patch/i, FilePen],
  [/read|notebook|cat/i, FileText],
  [/grep|glob|search|find|list|^ls$/i, Search],
  [/task|agent/i, Bot],
]
