import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { titleOf } from './first-line.ts'

/** Longer messages are collapsed. */
const shortMessage = 600
const shortLines = 5

/** The message and the answer of the run. */
export function RunAnswer({ run }: { run: ExecutionDetails }) {
  const { message, response } = run
  if (message === null && response === null) return null
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {message !== null && message.trim() !== titleOf(message) && <Message message={message} />}
      {response !== null && response.trim() !== '' && (
        <section
          aria-labelledby="run-answer"
          className="min-w-0 rounded-lg border border-line bg-surface px-4 py-3"
        >
          <div className="flex items-center justify-between gap-2">
            <h2 id="run-answer" className="font-semibold text-sm">
              Answer
            </h2>
            <CopyButton text={response} label="Copy answer" />
          </div>
          <Markdown text={response} className="max-h-[32rem] overflow-y-auto" />
        </section>
      )}
    </div>
  )
}

function Message({ message }: { message: string }) {
  const [isWhole, setWhole] = useState(false)
  const start = message.split('\n', shortLines).join('\n').slice(0, shortMessage).toWellFormed().trimEnd()
  const isLong = start.length < message.trimEnd().length
  const shown = isLong && !isWhole ? `${start}…` : message
  return (
    <section aria-labelledby="run-message" className="min-w-0">
      <h2 id="run-message" className="mb-1 font-semibold text-sm">
        Message
      </h2>
      <p className="text-sm whitespace-pre-wrap [overflow-wrap:anywhere]">{shown}</p>
      {isLong && (
        <Button
          size="sm"
          variant="ghost"
          className="mt-1 -ml-2"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? 'Show less' : 'Show full message'}
        </Button>
      )}
    </section>
  )
}
