import type { QueueItem } from '@roost/contracts/operations/operator-queue'
import { KeyValues } from '../../ui/key-values.tsx'
import { PlainText } from '../../ui/plain-text.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { statusWords } from './words.ts'

/** The outcome of a resolved item. */
export function Outcome({ item }: { item: QueueItem }) {
  return (
    <section aria-label="Outcome" className="flex min-w-0 flex-col gap-3">
      {item.response !== null && <PlainText text={item.response} label="Answer" />}
      {item.response_text && <PlainText text={item.response_text} label="Note" />}
      <KeyValues
        items={[
          { label: 'Status', value: statusWords[item.status].label },
          item.responded_at !== null && {
            label: 'Answered',
            value: (
              <>
                by {item.responded_by_email ?? 'a user'}, <RelativeTime at={item.responded_at} />
              </>
            ),
          },
          item.acknowledged_at !== null && {
            label: 'Read by the agent',
            value: <RelativeTime at={item.acknowledged_at} />,
          },
          item.disposition_reason !== null && { label: 'Reason', value: item.disposition_reason },
        ]}
      />
    </section>
  )
}
