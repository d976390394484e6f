import type { AttemptSet } from '@roost/contracts/runs/attempts'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { conflictSentences } from '../history/words.ts'
import { visibleName } from '../workspace/paths.ts'
import { showFault } from '../workspace/show-fault.ts'
import { attemptKeys, keepOne } from './queries.ts'

/** Keeps an attempt. After a conflict, it names the files and asks whether to overwrite them. */
export function KeepButton({ set, number }: { set: AttemptSet; number: number }) {
  const { api, queries } = useApp()
  const [isOpen, setOpen] = useState(false)
  const conflict = set.keep?.attempt === number && set.keep.reason === 'changed_meanwhile' ? set.keep : null
  const keep = useMutation({
    mutationFn: () =>
      keepOne(api, set.agent_name, set.id, {
        attempt: number,
        on_conflict: conflict ? 'overwrite' : 'refuse',
        when_busy: 'wait',
      }),
    onSuccess: () => {
      setOpen(false)
      void queries.invalidateQueries({ queryKey: attemptKeys.ofAgent(set.agent_name) })
    },
    onError: showFault,
  })
  return (
    <>
      <Button size="sm" variant="primary" onClick={() => setOpen(true)}>
        {conflict ? 'Keep and overwrite…' : 'Keep this attempt…'}
      </Button>
      <ConfirmDialog
        open={isOpen}
        onOpenChange={setOpen}
        title={conflict ? `Overwrite ${plural(conflict.conflict_count, 'file')}?` : `Keep attempt ${number}?`}
        description={
          conflict
            ? 'These files changed in the workspace and in the attempt. The workspace is recorded before, so that you can undo it.'
            : 'Its changes become the workspace of the agent, and all attempts are removed. The workspace is recorded before, so that you can undo it.'
        }
        action={conflict ? 'Overwrite and keep' : `Keep attempt ${number}`}
        tone={conflict ? 'danger' : 'primary'}
        pending={keep.isPending}
        onConfirm={() => keep.mutate()}
      >
        {conflict && (
          <ScrollRegion label="Files in conflict" className="max-h-60 overflow-auto">
            <ul className="text-sm">
              {conflict.conflicts.map(({ path, path_bytes }) => (
                <li key={path_bytes ?? path} className="py-1">
                  <code className="break-all text-xs">{visibleName(path)}</code>{' '}
                  <span className="text-muted text-xs">{conflictSentences.changed_meanwhile}</span>
                </li>
              ))}
            </ul>
          </ScrollRegion>
        )}
      </ConfirmDialog>
    </>
  )
}
