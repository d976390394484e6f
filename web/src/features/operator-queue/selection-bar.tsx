import type { QueueItem } from '@roost/contracts/operations/operator-queue'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { BulkAnswer } from './bulk-answer.tsx'
import type { InboxSelection } from './use-inbox-selection.ts'
import type { Triage } from './use-triage.ts'

type SelectionBarProps = {
  items: readonly QueueItem[]
  selection: InboxSelection
  triage: Triage
  onLeave: () => void
}

/** Above the list: selects all items of the page, and acts on the selection. */
export function SelectionBar({ items, selection, triage, onLeave }: SelectionBarProps) {
  const [isAnswering, setAnswering] = useState(false)
  const selectable = items.filter(({ status }) => status === 'pending')
  const chosen = selectable.filter(({ id }) => selection.ids.has(id))
  if (selectable.length === 0) return null
  const isAll = chosen.length === selectable.length
  const deal = (work: () => void) => {
    work()
    selection.set([])
    onLeave()
  }
  return (
    <div className="flex h-10 items-center gap-2 border-b px-3">
      <Checkbox
        checked={isAll || (chosen.length > 0 && 'indeterminate')}
        onCheckedChange={() => selection.set(isAll ? [] : selectable.map(({ id }) => id))}
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
