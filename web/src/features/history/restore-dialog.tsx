import type { Restore, RestorePreview } from '@roost/contracts/agents/workspace-restore'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Field } from '../../ui/field.tsx'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { Select } from '../../ui/select.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { visibleName } from '../workspace/paths.ts'
import { showFault } from '../workspace/show-fault.ts'
import { CancelRestore } from './cancel-restore.tsx'
import { beginRestore, type RestoreOf, restorePreviewQuery, restoreQuery } from './queries.ts'
import { changeWords, conflictSentences, countsText, restoreSentence } from './words.ts'

export type RestoreDialogProps = {
  agentName: string
  target: RestoreOf
  title: string
  open: boolean
  onOpenChange: (open: boolean) => void
}

const maxShown = 200
const busyOptions = [
  { value: 'wait', label: 'Wait until they end' },
  { value: 'stop', label: 'Stop them' },
] as const

/** Shows what a restore would change, restores, and offers to undo that. */
export function RestoreDialog({ agentName, target: first, title, open, onOpenChange }: RestoreDialogProps) {
  const { api, queries } = useApp()
  const [target, setTarget] = useState(first)
  const [started, setStarted] = useState<string | null>(null)
  const [whenBusy, setWhenBusy] = useState<'wait' | 'stop'>('wait')
  const preview = useQuery({
    ...restorePreviewQuery(api, agentName, target),
    enabled: open && started === null,
  })
  const beginning = useMutation({
    mutationFn: () => beginRestore(api, agentName, target, whenBusy),
    onSuccess: ({ id }) => setStarted(id),
    onError: showFault,
  })
  const restore = useQuery({ ...restoreQuery(api, agentName, started ?? ''), enabled: started !== null })
  const isEnded = typeof restore.data?.ended_at === 'string'
  useEffect(() => {
    if (isEnded) void queries.invalidateQueries({ queryKey: ['agent', agentName] })
  }, [isEnded, agentName, queries])

  const undoRecord = restore.data?.state === 'restored' ? restore.data.undo_record : null
  const undo = (record: string) => {
    setTarget(sameOf(target, record))
    setStarted(null)
  }
  const isReady = started === null && preview.data !== undefined && preview.data.total > 0
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={title}
      description="The workspace is recorded before, so that you can undo the restore."
      size="lg"
      footer={
        <>
          <Button onClick={() => onOpenChange(false)}>{started === null ? 'Cancel' : 'Close'}</Button>
          {restore.data?.state === 'waiting' && (
            <CancelRestore agentName={agentName} restore={restore.data.id} />
          )}
          {undoRecord !== null && <Button onClick={() => undo(undoRecord)}>Undo this restore</Button>}
          {isReady && (
            <Button variant="primary" pending={beginning.isPending} onClick={() => beginning.mutate()}>
              Restore
            </Button>
          )}
        </>
      }
    >
      {started !== null ? (
        <Progress restore={restore.data} error={restore.error} />
      ) : (
        <div className="flex min-w-0 flex-col gap-4">
          {preview.error && (
            <ErrorState
              title="Could not compare the workspace"
              error={preview.error}
              onRetry={() => void preview.refetch()}
            />
          )}
          {!preview.error && !preview.data && <SkeletonList rows={3} label="Comparing the workspace" />}
          {preview.data && <Preview found={preview.data} />}
          {isReady && (
            <Field label="If runs are working">
              <Select value={whenBusy} onValueChange={setWhenBusy} options={busyOptions} className="w-fit" />
            </Field>
          )}
        </div>
      )}
    </Dialog>
  )
}

/** The same paths, to another record. */
function sameOf({ path, path_bytes }: RestoreOf, record: string): RestoreOf {
  return {
    record,
    ...(path === undefined ? {} : { path }),
    ...(path_bytes === undefined ? {} : { path_bytes }),
  }
}

function Preview({ found }: { found: RestorePreview }) {
  const { changes, total, record } = found
  if (total === 0)
    return (
      <>
        <p className="text-sm">Nothing differs from record {record.number}.</p>
        <Conflicts {...found} />
      </>
    )
  return (
    <>
      <p className="text-sm">
        To record {record.number}: {countsText({ ...found, renamed: 0 })}.
      </p>
      <ScrollRegion
        label="What the restore changes"
        className="max-h-64 overflow-y-auto rounded-lg border border-line"
      >
        <ul className="divide-y divide-line text-sm">
          {changes.slice(0, maxShown).map(({ path, path_bytes, kind, change }) => {
            const { word, tone } = changeWords[change]
            return (
              <li
                key={`${change} ${path_bytes ?? path}`}
                className="flex min-w-0 items-start gap-2 px-3 py-1.5"
              >
                <Badge tone={tone} className="shrink-0">
                  {word}
                </Badge>
                <code className="min-w-0 flex-1 break-all text-xs leading-5">
                  <bdi>{visibleName(path)}</bdi>
                </code>
                {kind !== 'file' && <span className="text-muted text-xs leading-5">{kind}</span>}
              </li>
            )
          })}
        </ul>
      </ScrollRegion>
      {total > maxShown && (
        <p className="text-muted text-xs">{plural(total - maxShown, 'more change')}, not shown here.</p>
      )}
      <Conflicts {...found} />
    </>
  )
}

function Conflicts({
  conflicts,
  conflict_count: count,
}: Pick<RestorePreview, 'conflicts' | 'conflict_count'>) {
  if (count === 0) return null
  return (
    <Banner
      tone="warning"
      title={`${plural(count, 'path')} ${count === 1 ? 'stays as it is' : 'stay as they are'}`}
    >
      <ul>
        {conflicts.slice(0, 10).map(({ path, path_bytes, reason }) => (
          <li key={path_bytes ?? path} className="break-all">
            <code>{visibleName(path)}</code> {conflictSentences[reason]}.
          </li>
        ))}
      </ul>
    </Banner>
  )
}

function Progress({ restore, error }: { restore: Restore | undefined; error: Error | null }) {
  if (!restore)
    return error ? (
      <ErrorState title="Could not load the restore" error={error} />
    ) : (
      <SkeletonList rows={1} label="Restoring" />
    )
  const isDone = restore.state === 'restored' || restore.state === 'unchanged'
  const isFailed = restore.state === 'failed' && restore.reason !== 'cancelled'
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Banner tone={isFailed ? 'danger' : isDone ? 'success' : 'info'}>
        {restoreSentence(restore)}{' '}
        {restore.state === 'restored' && `${countsText({ ...restore, renamed: 0 })}.`}
      </Banner>
      <Conflicts {...restore} />
    </div>
  )
}
