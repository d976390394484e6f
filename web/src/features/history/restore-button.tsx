import { Undo2 } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import type { RestoreOf } from './queries.ts'

const RestoreDialog = lazyPart(async () => (await import('./restore-dialog.tsx')).RestoreDialog)

export type RestoreButtonProps = {
  agentName: string
  target: RestoreOf
  label: string
  /** The title of the dialog. */
  title: string
}

/** Opens the preview of a restore. Only for owners. */
export function RestoreButton({ label, ...rest }: RestoreButtonProps) {
  const [isOpen, setOpen] = useState(false)
  /** Each opening begins with a new preview. */
  const [openings, setOpenings] = useState(0)
  const open = () => {
    setOpenings(openings + 1)
    setOpen(true)
  }
  return (
    <>
      <Button size="sm" className="w-fit" icon={<Undo2 aria-hidden />} onClick={open}>
        {label}
      </Button>
      {openings > 0 && (
        <Suspense fallback={null}>
          <RestoreDialog key={openings} {...rest} open={isOpen} onOpenChange={setOpen} />
        </Suspense>
      )}
    </>
  )
}
