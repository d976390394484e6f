import { restoreReasonTexts } from '@roost/contracts/agents/history'
import type { AttemptSet } from '@roost/contracts/runs/attempts'
import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Cost } from '../../ui/cost.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { RestoreButton } from '../history/restore-button.tsx'
import { showFault } from '../workspace/show-fault.ts'
import { AttemptDetail } from './attempt-detail.tsx'
import { AttemptTable } from './attempt-table.tsx'
import { attemptKeys, endSet, isWorking, removeSet } from './queries.ts'
import { setWords } from './words.ts'

const reasonTexts: Record<string, string | undefined> = restoreReasonTexts

/** The attempts of a set side by side. */
export function Comparison({
  set,
  chosen,
  onChoose,
}: {
  set: AttemptSet
  chosen: number
  onChoose: (number: number) => void
}) {
  const attempt = set.attempts.find(({ number }) => number === chosen) ?? set.attempts[0]
  const { word, tone } = setWords[set.status]
  return (
    <>
      <PageHeader
        title="Attempts"
        aside={<Badge tone={tone}>{word}</Badge>}
        back={
          <Link to="/agents/$name/attempts" params={{ name: set.agent_name }}>
            Attempts of {set.agent_name}
          </Link>
        }
        description={<span className="line-clamp-3 break-words">{set.task}</span>}
        actions={<Actions set={set} />}
      />
      <div className="flex min-w-0 flex-col gap-5">
        <p className="text-muted text-sm">
          <Cost usd={set.cost} /> of <Cost usd={set.max_cost_usd} /> used
          {set.expires_at !== null && (
            <>
              , kept until <ExactTime at={set.expires_at} />
            </>
          )}
        </p>
        <Notes set={set} />
        <AttemptTable set={set} chosen={attempt?.number ?? 1} onChoose={onChoose} />
        {attempt && <AttemptDetail key={attempt.number} set={set} attempt={attempt} />}
      </div>
    </>
  )
}

function Notes({ set }: { set: AttemptSet }) {
  const { keep, message, status } = set
  if (status === 'kept' && keep)
    return (
      <Banner
        tone="success"
        action={
          keep.undo_record && (
            <RestoreButton
              agentName={set.agent_name}
              target={{ record: keep.undo_record }}
              label="Undo"
              title="Restore the workspace to before the attempt"
            />
          )
        }
      >
        Attempt {keep.attempt} is the workspace now.
        {keep.conflict_count > 0 && ` ${plural(keep.conflict_count, 'path')} could not be written.`}
      </Banner>
    )
  if (keep?.state === 'failed')
    return (
      <Banner tone="warning" title={`Attempt ${keep.attempt} was not kept`}>
        {keep.reason === 'changed_meanwhile'
          ? `${plural(keep.conflict_count, 'file')} changed both in the workspace and in the attempt.`
          : (keep.message ?? reasonTexts[keep.reason ?? ''] ?? message)}
      </Banner>
    )
  return message === null ? null : <Banner tone={status === 'failed' ? 'danger' : 'info'}>{message}</Banner>
}

function Actions({ set }: { set: AttemptSet }) {
  const { api, queries } = useApp()
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const { agent_name: name, id } = set
  const onSuccess = () => {
    setOpen(false)
    void queries.invalidateQueries({ queryKey: attemptKeys.ofAgent(name) })
  }
  const end = useMutation({
    mutationFn: (act: 'cancel' | 'discard') => endSet(api, name, id, act),
    onSuccess,
    onError: showFault,
  })
  const remove = useMutation({
    mutationFn: () => removeSet(api, name, id),
    async onSuccess() {
      // First, so that the deleted set is not loaded again.
      await navigate({ to: '/agents/$name/attempts', params: { name } })
      onSuccess()
    },
    onError: showFault,
  })
  if (set.ended_at !== null)
    return (
      <Button size="sm" pending={remove.isPending} onClick={() => remove.mutate()}>
        Delete from the list
      </Button>
    )
  return (
    <>
      {isWorking(set.status) && set.status !== 'keeping' && (
        <Button size="sm" pending={end.isPending} onClick={() => end.mutate('cancel')}>
          Cancel remaining attempts
        </Button>
      )}
      {set.status !== 'keeping' && set.status !== 'kept' && (
        <Button size="sm" onClick={() => setOpen(true)}>
          Discard all…
        </Button>
      )}
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setOpen}
        title="Discard all attempts?"
        description="Their files are removed. The runs stay in the list of runs."
        action="Discard all attempts"
        pending={end.isPending}
        onConfirm={() => end.mutate('discard')}
      />
    </>
  )
}
