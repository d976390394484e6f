import type { QueueItem } from '@roost/contracts/operations/operator-queue'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { BulkAnswer } from './bulk-answer.tsx'
import type { Marked } from './use-marked.ts'
import type { Triage } from './use-triage.ts'

type MarkBarProps = { items: readonly QueueItem[]; marked: Marked; triage: Triage; onLeave: () => void }

/** Above the list: selects all items of the page, and acts on the selection. */
export function MarkBar({ items, marked, triage, onLeave }: MarkBarProps) {
  const [isAnswering, setAnswering] = useState(false)
  const markable = items.filter(({ status }) => status === 'pending')
  const chosen = markable.filter(({ id }) => marked.ids.has(id))
  if (markable.length === 0) return null
  const isAll = chosen.length === markable.length
  const deal = (work: () => void) => {
    work()
    marked.set([])
    onLeave()
  }
  return (
    <div className="flex h-10 items-center gap-2 border-b px-3">
      <Checkbox
        checked={isAll || (chosen.length > 0 && 'indeterminate')}
        onCheckedChange={() => marked.set(isAll ? [] : markable.map(({ id }) => id))}
      >
        <span className="text-muted text-xs" data-numeric aria-live="polite">
          {chosen.length > 0 ? `${chosen.length} selected` : 'Select all'}
        </span>
      </Checkbox>
      {chosen.length > 0 && (
        <div className="ml-auto flex items-center gap-1.5">
          <Button size="sm" onClick={() => setAnswering(true)}>
            Answer…
          </Button>
          {chosen.every(triage.mayDismiss.item) && (
            <Button size="sm" variant="ghost" onClick={() => deal(() => triage.dismissAll(chosen))}>
              Dismiss
            </Button>
          )}
        </div>
      )}
      {isAnswering && (
        <BulkAnswer
          items={chosen}
          onOpenChange={setAnswering}
          onAnswer={(answered, answer) => {
            setAnswering(false)
            deal(() => triage.answerAll(answered, answer))
          }}
        />
      )}
    </div>
  )
}
