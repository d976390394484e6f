import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { nameOf, visibleName } from '../paths.ts'
import type { OnPresent, PlannedFile } from './plan.ts'

const maxNamed = 5

export type PresentDialogProps = {
  /** The files whose name is taken; empty keeps the dialog closed. */
  present: readonly PlannedFile[]
  onChoose: (choice: OnPresent) => void
  onCancel: () => void
}

/** Asks once what to do with all files whose name is taken. */
export function PresentDialog({ present, onChoose, onCancel }: PresentDialogProps) {
  const names = present.slice(0, maxNamed).map(({ path }) => visibleName(nameOf(path)))
  const further = present.length - names.length
  return (
    <Dialog
      open={present.length > 0}
      onOpenChange={(open) => !open && onCancel()}
      size="sm"
      title="Replace existing files?"
      description={`These files already exist: ${names.join(', ')}${further > 0 ? ` and ${further} more` : ''}.`}
      footer={
        <>
          <Button onClick={() => onChoose('skip')}>Skip</Button>
          <Button data-autofocus onClick={() => onChoose('keep')}>
            Keep both
          </Button>
          <Button variant="danger" onClick={() => onChoose('replace')}>
            Replace
          </Button>
        </>
      }
    />
  )
}
