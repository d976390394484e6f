import type { QueueItem } from '@roost/contracts/operations/operator-queue'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field } from '../../ui/field.tsx'
import { Textarea } from '../../ui/input.tsx'
import { Kbd } from '../../ui/kbd.tsx'
import type { Triage } from './use-triage.ts'
import { optionsOf } from './words.ts'

type AnswerFormProps = { item: QueueItem; triage: Triage; onLeave: () => void }

/** The answer: one of the options with an optional note, or text for items without options. */
export function AnswerForm({ item, triage, onLeave }: AnswerFormProps) {
  const [text, setText] = useState('')
  const [acceptsChange, setSeen] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const [isSending, setSending] = useState(false)
  const options = optionsOf(item)
  const isBlocked = item.diverged && !acceptsChange
  const note = text.trim() === '' ? null : text

  const choose = (response: string) => {
    triage.choose(item, { response, note, acceptsChange })
    onLeave()
  }
  const send = async () => {
    if (note === null || isBlocked || isSending) return
    setSending(true)
    try {
      await triage.write(item, { response: note, note: null, acceptsChange })
      onLeave()
    } catch (failure) {
      const { sentence, code } = describeFault(failure)
      setError(`${sentence} (${code})`)
    } finally {
      setSending(false)
    }
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (options.length === 0) void send()
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Escape') event.currentTarget.blur()
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    if (options.length === 0) void send()
  }
  return (
    <form aria-label="Answer" noValidate onSubmit={onSubmit} className="flex min-w-0 flex-col gap-3">
      {item.diverged && (
        <Checkbox checked={acceptsChange} onCheckedChange={setSeen}>
          Answer the current version
        </Checkbox>
      )}
      {options.length > 0 && (
        <ul aria-label="Options" className="flex flex-wrap gap-2">
          {options.map((option, index) => (
            <li key={option} className="min-w-0 max-w-full">
              <Button
                variant={index === 0 ? 'primary' : 'secondary'}
                disabled={isBlocked}
                onClick={() => choose(option)}
                className="h-auto! min-h-8 max-w-full whitespace-normal! py-1 text-left"
              >
                {index < 9 && (
                  <span aria-hidden className="text-2xs opacity-70 max-md:hidden">
                    {index + 1}
                  </span>
                )}
                <span className="min-w-0 [overflow-wrap:anywhere]">{option}</span>
              </Button>
            </li>
          ))}
        </ul>
      )}
      <Field label={options.length > 0 ? 'Note' : 'Answer'} error={error}>
        <Textarea
          data-inbox-text=""
          rows={options.length > 0 ? 2 : 3}
          maxLength={8000}
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            setError(null)
          }}
          onKeyDown={onKeyDown}
          placeholder={options.length > 0 ? 'Optional. Sent with the option you choose.' : undefined}
        />
      </Field>
      <div className="flex flex-wrap items-center gap-2">
        {options.length === 0 && (
          <Button type="submit" variant="primary" pending={isSending} disabled={note === null || isBlocked}>
            Answer
            <span className="max-md:hidden">
              <Kbd keys={['Ctrl', 'Enter']} />
            </span>
          </Button>
        )}
        {triage.mayDismiss.item(item) && (
          <Button
            variant="ghost"
            onClick={() => {
              triage.dismiss(item)
              onLeave()
            }}
          >
            {item.type === 'alert' ? 'Dismiss alert' : 'Dismiss without answer'}
          </Button>
        )}
      </div>
    </form>
  )
}
