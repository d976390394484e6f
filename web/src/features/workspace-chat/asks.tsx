import { answerAsk } from '@roost/contracts/conversations/workspace'
import type { QueueItem } from '@roost/contracts/operations/operator-queue'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useApi, useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { cx } from '../../ui/class-names.ts'
import { Field } from '../../ui/field.tsx'
import { Textarea } from '../../ui/input.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { toast } from '../../ui/toast.tsx'
import { ItemMarks } from '../operator-queue/item-marks.tsx'
import { optionsOf } from '../operator-queue/words.ts'
import { asksQuery, workspaceKeys } from './queries.ts'
import { showFault } from './show-fault.ts'

/** The open questions to this user; renders nothing without any. `isTitled`: the page already has a title. */
export function Asks({ isTitled = false }: { isTitled?: boolean }) {
  const asks = useQuery(asksQuery(useApi()))
  const waiting = (asks.data ?? []).filter(({ status }) => status === 'pending')
  if (waiting.length === 0) return null
  return (
    <section aria-labelledby="asks" className="flex flex-col gap-3">
      <h2 id="asks" className={cx('font-semibold text-base', isTitled && 'sr-only')}>
        Questions for you
      </h2>
      {waiting.map((ask) => (
        <Ask key={ask.id} ask={ask} />
      ))}
    </section>
  )
}

function Ask({ ask }: { ask: QueueItem }) {
  const { api, queries } = useApp()
  const [text, setText] = useState('')
  const options = optionsOf(ask)
  const note = text.trim() === '' ? null : text
  const answer = useMutation({
    mutationFn: (response: string) =>
      api.call(answerAsk, {
        params: { id: ask.id },
        body: {
          response,
          response_text: options.length > 0 ? note : null,
          // The answer applies to the current version, which is shown.
          acknowledge_divergence: ask.diverged,
        },
      }),
    onSuccess: () => void toast({ title: 'Answer sent.', description: ask.title, tone: 'success' }),
    onError: showFault,
    onSettled: () => queries.invalidateQueries({ queryKey: workspaceKeys.asks }),
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (note !== null && options.length === 0) answer.mutate(note)
  }
  const { title, question } = ask.entry_now ?? ask
  return (
    <Card>
      <h3 className="font-medium text-sm [overflow-wrap:anywhere]">{title}</h3>
      <p className="mt-1 mb-2 flex flex-wrap items-center gap-1.5 text-muted text-xs">
        <ItemMarks item={ask} />
        {ask.agent_name}
      </p>
      {question && <Markdown text={question} className="mb-3 text-sm" />}
      <form aria-label={`Answer to ${title}`} onSubmit={onSubmit} className="flex flex-col gap-2">
        <Field label={options.length > 0 ? 'Note' : 'Answer'}>
          <Textarea
            rows={2}
            maxLength={8000}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </Field>
        <div className="flex flex-wrap gap-2">
          {options.map((option) => (
            <Button
              key={option}
              pending={answer.isPending && answer.variables === option}
              onClick={() => answer.mutate(option)}
              className="h-auto! min-h-8 max-w-full whitespace-normal! py-1 text-left"
            >
              {option}
            </Button>
          ))}
          {options.length === 0 && (
            <Button type="submit" variant="primary" pending={answer.isPending} disabled={note === null}>
              Answer
            </Button>
          )}
        </div>
      </form>
    </Card>
  )
}
