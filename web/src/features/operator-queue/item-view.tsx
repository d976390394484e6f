import type { QueueItem } from '@roost/contracts/operations/operator-queue'
import { Link } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import { Suspense } from 'react'
import { Banner } from '../../ui/banner.tsx'
import { cx } from '../../ui/class-names.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { PlainText } from '../../ui/plain-text.tsx'
import { ExactTime, RelativeTime } from '../../ui/time.tsx'
import { AnswerForm } from './answer-form.tsx'
import { ItemMarks } from './item-marks.tsx'
import { Outcome } from './outcome.tsx'
import type { Triage } from './use-triage.ts'

const Markdown = lazyPart(
  async () => (await import('../../ui/markdown.tsx')).Markdown,
  ({ text }) => <PlainText text={text} />,
)

type ItemViewProps = {
  item: QueueItem
  triage: Triage
  /** Called when the item is resolved, to show the next one. */
  onLeave: () => void
  /** On phones: back to the list. */
  onBack: () => void
  className?: string
}

/** One item in full, with the answer form. */
export function ItemView({ item, triage, onLeave, onBack, className }: ItemViewProps) {
  return (
    <article
      aria-labelledby="item-title"
      className={cx('min-w-0 rounded-lg border border-line bg-surface', className)}
    >
      <div className="flex min-w-0 flex-col gap-4 p-4">
        <header className="min-w-0">
          <button
            type="button"
            onClick={onBack}
            className="mb-2 inline-flex items-center gap-1 text-muted text-sm lg:hidden"
          >
            <ArrowLeft aria-hidden className="size-3.5" />
            All items
          </button>
          <h2 id="item-title" className="font-semibold text-lg [overflow-wrap:anywhere]">
            {item.title}
          </h2>
          <p className="mt-1 flex flex-wrap items-center gap-1.5">
            <ItemMarks item={item} />
          </p>
        </header>
        {item.question && (
          <Suspense fallback={<PlainText text={item.question} />}>
            <Markdown text={item.question} />
          </Suspense>
        )}
        <Proposal proposal={item.proposal} />
        {item.entry_now && <ChangedEntry now={item.entry_now} />}
        <Facts item={item} />
      </div>
      <div className="border-t p-4">
        {item.status === 'pending' ? (
          <AnswerForm item={item} triage={triage} onLeave={onLeave} />
        ) : (
          <Outcome item={item} />
        )}
      </div>
    </article>
  )
}

function Proposal({ proposal }: Pick<QueueItem, 'proposal'>) {
  if (proposal === null) return null
  return (
    <section>
      <h3 className="mb-1.5 font-medium text-sm">Proposed action</h3>
      {typeof proposal === 'string' ? (
        <PlainText text={proposal} label="Proposal" />
      ) : (
        <CodeBlock language="json" title="Proposal" code={JSON.stringify(proposal, null, 2)} />
      )}
    </section>
  )
}

/** The agent changed the entry after asking. Only the current version can be answered. */
function ChangedEntry({ now }: { now: NonNullable<QueueItem['entry_now']> }) {
  return (
    <Banner tone="warning" title="The agent changed this item">
      <p>Current version: “{now.title}”</p>
      {now.question && <p className="mt-1 whitespace-pre-wrap [overflow-wrap:anywhere]">{now.question}</p>}
    </Banner>
  )
}

function Facts({ item }: { item: QueueItem }) {
  const hasContext = Object.keys(item.context).length > 0
  return (
    <>
      <KeyValues
        items={[
          {
            label: 'Sender',
            value:
              item.agent_name === null ? (
                'platform'
              ) : (
                <Link
                  to="/agents/$name"
                  params={{ name: item.agent_name }}
                  className="break-all text-accent hover:underline"
                >
                  {item.agent_name}
                </Link>
              ),
          },
          { label: 'Created', value: <RelativeTime at={item.created_at} /> },
          item.expires_at !== null && {
            label: 'Expires',
            value: (
              <>
                <ExactTime at={item.expires_at} />
                (then counts as refused)
              </>
            ),
          },
          item.addressed_to_email !== null && { label: 'Addressed to', value: item.addressed_to_email },
          item.execution_id !== null &&
            item.agent_name !== null && {
              label: 'Run',
              value: (
                <Link
                  to="/agents/$name/executions/$id"
                  params={{ name: item.agent_name, id: item.execution_id }}
                  className="text-accent hover:underline"
                >
                  Open run
                </Link>
              ),
            },
        ]}
      />
      {hasContext && (
        <CodeBlock language="json" title="Context" code={JSON.stringify(item.context, null, 2)} />
      )}
    </>
  )
}
