import { ApiError } from '@roost/contracts/client'
import { cancelItem, type QueueItem, respondToItem } from '@roost/contracts/operations/operator-queue'
import { bulkCancelItems, bulkRespondToItems } from '@roost/contracts/operations/queue-bulk'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { queueKey } from './queries.ts'
import { useMayDismiss } from './use-may-dismiss.ts'

export type Answer = {
  response: string
  /** A note to an option; null: none. */
  note: string | null
  /** The user accepts that the entry has changed. */
  acceptsChange: boolean
}

/**
 * The user's actions on items. Options and dismissals run when the time for Undo has passed or the page is
 * left, because one key triggers them. A written answer is sent immediately.
 */
export function useTriage() {
  const { api, queries } = useApp()
  const undo = useUndo()
  const mayDismiss = useMayDismiss()
  const stale = () => queries.invalidateQueries({ queryKey: queueKey })

  async function done(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (error) {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    } finally {
      await stale()
    }
  }

  function send({ id }: QueueItem, { response, note, acceptsChange }: Answer): Promise<QueueItem> {
    return api.call(respondToItem, {
      params: { id },
      body: { response, response_text: note, acknowledge_divergence: acceptsChange },
    })
  }

  return {
    /** Items shown as if resolved. */
    pending: undo.pending,
    mayDismiss,
    choose: (item: QueueItem, answer: Answer) =>
      undo.later({
        id: item.id,
        title: `Answered “${answer.response}”.`,
        description: item.title,
        run: () => done(send(item, answer)),
      }),
    dismiss: (item: QueueItem) =>
      undo.later({
        id: item.id,
        title: 'Dismissed without answer.',
        description: item.title,
        run: () => done(api.call(cancelItem, { params: { id: item.id }, body: {} })),
      }),
    answerAll: (items: readonly QueueItem[], { response, note }: Pick<Answer, 'response' | 'note'>) =>
      undo.later({
        ...together(items),
        title: `${plural(items.length, 'item')} answered “${shortened(response)}”.`,
        run: () =>
          done(
            api
              .call(bulkRespondToItems, { body: { ids: idsOf(items), response, response_text: note } })
              .then(({ skipped }) => reportSkipped(skipped, 'answered')),
          ),
      }),
    dismissAll: (items: readonly QueueItem[]) =>
      undo.later({
        ...together(items),
        title: `${plural(items.length, 'item')} dismissed without answer.`,
        run: () =>
          done(
            api
              .call(bulkCancelItems, { body: { ids: idsOf(items) } })
              .then(({ skipped }) => reportSkipped(skipped, 'dismissed')),
          ),
      }),
    /** Runs the pending actions immediately. */
    finish: () => undo.now(() => true),
    /** Throws the error for the field. */
    async write(item: QueueItem, answer: Answer): Promise<void> {
      try {
        await send(item, answer)
        toast({ title: 'Answered.', description: item.title, tone: 'success' })
      } catch (error) {
        // Another user resolved the item first, or the entry changed: refetch the list.
        if (error instanceof ApiError && error.status === 409) await stale()
        throw error
      }
      await stale()
    },
  }
}

export type Triage = ReturnType<typeof useTriage>

function idsOf(items: readonly QueueItem[]): string[] {
  return items.map(({ id }) => id)
}

/** Several items share one Undo. */
function together(items: readonly QueueItem[]) {
  const ids = idsOf(items)
  return { id: ids.join(' '), ids }
}

const shownLength = 40

function shortened(text: string): string {
  return text.length > shownLength ? `${text.slice(0, shownLength).toWellFormed()}…` : text
}

/** Another user resolved the items first, or this user may not dismiss them. */
function reportSkipped(skipped: number, what: string): void {
  if (skipped === 0) return
  toast({
    title: `${plural(skipped, 'item')} could not be ${what}.`,
    description: 'The list shows their current status.',
    tone: 'warning',
  })
}
