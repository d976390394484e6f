import type { QueueItem } from '@roost/contracts/operations/operator-queue'
import { type FormEvent, useId, useState } from 'react'
import { plural } from '../../lib/format.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Textarea } from '../../ui/input.tsx'
import { type CommonAnswer, commonAnswerOf } from './common-answer.ts'

type BulkAnswerProps = {
  items: readonly QueueItem[]
  onOpenChange: (open: boolean) => void
  onAnswer: (items: readonly QueueItem[], answer: { response: string; note: string | null }) => void
}

/** One answer for several items, except those that changed since they were asked. */
export function BulkAnswer({ items, onOpenChange, onAnswer }: BulkAnswerProps) {
  const formId = useId()
  const [text, setText] = useState('')
  const answered = items.filter(({ diverged }) => !diverged)
  const changed = items.length - answered.length
  const alike = commonAnswerOf(items)
  const written = text.trim() === '' ? null : text
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (alike.by === 'text' && written !== null) onAnswer(answered, { response: written, note: null })
  }
  return (
    <Dialog
      open
      onOpenChange={onOpenChange}
      title={`Answer ${plural(answered.length, 'item')}`}
      footer={
        <>
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          {alike.by === 'text' && (
            <Button type="submit" form={formId} variant="primary" disabled={written === null}>
              Answer
            </Button>
          )}
        </>
      }
    >
      <form id={formId} aria-label="Answer to all" onSubmit={onSubmit} className="flex flex-col gap-4">
        {changed > 0 && (
          <Banner tone="warning">
            {plural(changed, 'item')} changed after the question was asked. Answer{' '}
            {changed === 1 ? 'it' : 'them'} individually.
          </Banner>
        )}
        {alike.by === 'nothing' ? (
          <p className="text-muted text-sm">
            The selected items have no common answer. Select only items with the same options.
          </p>
        ) : (
          <Field label={alike.by === 'option' ? 'Note' : 'Answer'}>
            <Textarea
              rows={3}
              maxLength={8000}
              value={text}
              onChange={(event) => setText(event.target.value)}
              placeholder={alike.by === 'option' ? 'Optional. Sent with the option you choose.' : undefined}
            />
          </Field>
        )}
        <Options alike={alike} onChoose={(response) => onAnswer(answered, { response, note: written })} />
      </form>
    </Dialog>
  )
}

function Options({ alike, onChoose }: { alike: CommonAnswer; onChoose: (option: string) => void }) {
  if (alike.by !== 'option') return null
  return (
    <ul aria-label="Options" className="flex flex-wrap gap-2">
      {alike.options.map((option) => (
        <li key={option} className="min-w-0 max-w-full">
          <Button
            onClick={() => onChoose(option)}
            className="h-auto! min-h-8 max-w-full whitespace-normal! py-1 text-left"
          >
            <span className="min-w-0 [overflow-wrap:anywhere]">{option}</span>
          </Button>
        </li>
      ))}
    </ul>
  )
}
