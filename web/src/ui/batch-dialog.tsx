import { Check, CircleAlert, CircleDashed, CircleSlash, LoaderCircle } from 'lucide-react'
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { type BatchResults, countResults, keysDone, type RowResult, runBatch } from '../lib/batch.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'
import { Input } from './input.tsx'
import { ProgressBar } from './progress.tsx'
import { StopIcon } from './stop-icon.tsx'

export type BatchDialogProps<Row> = {
  /** The question, such as `Stop 2 agents?`. */
  title: string
  /** What happens to each row, and whether it can be undone. */
  description: ReactNode
  /** The verb on the button, such as `Stop agents`. */
  action: string
  tone?: 'danger' | 'primary'
  /** A text to type before the button is enabled. */
  typed?: string
  /** False: fields among the children are missing. */
  isReady?: boolean
  /** Fields of the action. */
  children?: ReactNode
  rows: readonly Row[]
  keyOf: (row: Row) => string
  labelOf: (row: Row) => string
  /** Returns what happened, as a sentence. Throws when the row is refused. */
  act: (row: Row) => Promise<string>
  /** Called when no request is left, before the dialog is closed. */
  onEnd: () => void
  /** `done` has the keys of the rows that were done. */
  onClose: (done: readonly string[]) => void
}

/** Asks, then acts on each row, and shows the result of each. Leaving the page stops what has not begun. */
export function BatchDialog<Row>(props: BatchDialogProps<Row>) {
  const { title, description, action, tone = 'primary', typed, isReady = true, keyOf, labelOf } = props
  // Acting on a row may remove it from the list behind.
  const [rows] = useState(props.rows)
  const [text, setText] = useState('')
  const [results, setResults] = useState<BatchResults | null>(null)
  const [isStopping, setStopping] = useState(false)
  const stop = useRef<AbortController | null>(null)
  const formId = useId()
  useEffect(() => () => stop.current?.abort(), [])

  const counts = results && countResults(results)
  const left = counts ? counts.waiting + counts.running : rows.length
  const isRunning = counts !== null && left > 0
  const mayBegin = isReady && (typed === undefined || text.trim() === typed)

  const begin = async (event: FormEvent) => {
    event.preventDefault()
    if (!mayBegin || results) return
    const controller = new AbortController()
    stop.current = controller
    await runBatch({ rows, keyOf, act: props.act, signal: controller.signal, onChange: setResults })
    props.onEnd()
  }
  const close = () => {
    if (!isRunning) props.onClose(results ? keysDone(results) : [])
  }

  return (
    <Dialog
      open
      onOpenChange={close}
      insistent={isRunning}
      title={title}
      description={counts ? undefined : description}
      footer={
        isRunning ? (
          <Button
            icon={<StopIcon />}
            pending={isStopping}
            onClick={() => {
              setStopping(true)
              stop.current?.abort()
            }}
          >
            Stop
          </Button>
        ) : counts ? (
          <Button variant="primary" onClick={close}>
            Close
          </Button>
        ) : (
          <>
            <Button data-autofocus={(typed === undefined && tone === 'danger') || undefined} onClick={close}>
              Cancel
            </Button>
            <Button type="submit" form={formId} variant={tone} disabled={!mayBegin}>
              {action}
            </Button>
          </>
        )
      }
    >
      <div className="flex flex-col gap-3">
        {counts ? (
          <div className="flex flex-col gap-1.5">
            <p role="status" data-numeric className="text-muted text-sm">
              {summaryOf(counts, rows.length)}
            </p>
            {isRunning && <ProgressBar label={title} value={1 - left / rows.length} />}
          </div>
        ) : (
          <form id={formId} onSubmit={(event) => void begin(event)} className="flex flex-col gap-3">
            {props.children}
            {typed !== undefined && (
              <Field label={`Type ${typed} to confirm`}>
                <Input
                  mono
                  autoComplete="off"
                  spellCheck={false}
                  value={text}
                  onChange={(event) => setText(event.target.value)}
                />
              </Field>
            )}
          </form>
        )}
        <ul aria-label={counts ? 'Results' : 'Selected'} className={listClass}>
          {rows.map((row) => (
            <BatchRow key={keyOf(row)} label={labelOf(row)} result={results?.get(keyOf(row)) ?? null} />
          ))}
        </ul>
      </div>
    </Dialog>
  )
}

function BatchRow({ label, result }: { label: string; result: RowResult | null }) {
  return (
    <li className="flex min-w-0 items-start gap-2 px-3 py-1.5 text-sm">
      {result && <span className="mt-0.5 [&_svg]:size-4">{icons[result.state]}</span>}
      <div className="min-w-0 flex-1">
        <p className="truncate text-ink" title={label}>
          {label}
        </p>
        {result && (
          <p className={result.state === 'refused' ? 'text-danger text-xs' : 'text-muted text-xs'}>
            <span className="[overflow-wrap:anywhere]">{textOf(result)}</span>
            {result.state === 'refused' && result.code !== null && (
              <code className="ml-1.5">{result.code}</code>
            )}
          </p>
        )}
      </div>
    </li>
  )
}

function textOf(result: RowResult): string {
  if (result.state === 'done') return result.text
  if (result.state === 'refused') return `Refused: ${result.text}`
  return { waiting: 'Waiting', running: 'In progress', not_begun: 'Not begun' }[result.state]
}

function summaryOf(counts: Record<RowResult['state'], number>, total: number): string {
  const { done, refused, not_begun: notBegun } = counts
  return [
    `${done} of ${total} done`,
    refused > 0 && `${refused} refused`,
    notBegun > 0 && `${notBegun} not begun`,
  ]
    .filter(Boolean)
    .join(', ')
}

const icons: Record<RowResult['state'], ReactNode> = {
  waiting: <CircleDashed aria-hidden className="text-faint" />,
  running: <LoaderCircle aria-hidden className="animate-spin text-accent motion-reduce:animate-none" />,
  done: <Check aria-hidden className="text-success" />,
  refused: <CircleAlert aria-hidden className="text-danger" />,
  not_begun: <CircleSlash aria-hidden className="text-faint" />,
}

const listClass = 'divide-y divide-line rounded-lg border border-line bg-surface'
