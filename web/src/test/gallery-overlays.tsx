import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Dialog, Sheet } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { Input } from '../ui/input.tsx'
import { Menu } from '../ui/menu.tsx'
import { Popover } from '../ui/popover.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { toast } from '../ui/toast.tsx'

type Open = 'dialog' | 'sheet' | 'confirm' | 'secret' | null

const secrets = [{ label: 'API key', value: 'rst_8f2c1b7de0aa4f6f9b3d5c7e1a2b4c6d8e0f1a3b5c7d9e' }]

export function OverlaysPart() {
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  return (
    <section aria-label="Overlays" className="flex flex-wrap gap-2">
      <Button onClick={() => setOpen('dialog')}>Open dialog</Button>
      <Button onClick={() => setOpen('sheet')}>Open sheet</Button>
      <Button onClick={() => setOpen('confirm')}>Open confirmation</Button>
      <Button onClick={() => setOpen('secret')}>Open secret</Button>
      <Popover label="Filters" trigger={<Button>Open popover</Button>}>
        <Field label="Agent">
          <Input />
        </Field>
      </Popover>
      <Menu
        trigger={<Button>More</Button>}
        items={[{ label: 'Rename', onSelect: () => setOpen('dialog') }]}
      />
      <Button onClick={undoable}>Delete with undo</Button>
      <Button onClick={fail}>Fail</Button>
      <Dialog
        open={open === 'dialog'}
        onOpenChange={close}
        title="New schedule"
        description="Runs the agent at set times."
        footer={
          <>
            <Button onClick={close}>Cancel</Button>
            <Button variant="primary">Create</Button>
          </>
        }
      >
        <Field label="Cron expression" hint="At 07:30, Monday to Friday">
          <Input mono defaultValue="30 7 * * 1-5" />
        </Field>
      </Dialog>
      <Sheet open={open === 'sheet'} onOpenChange={close} title="Execution" footer={<Button>Retry</Button>}>
        <p className="text-sm text-muted">The steps and the outcome of the run.</p>
      </Sheet>
      <ConfirmDialog
        open={open === 'confirm'}
        onOpenChange={close}
        title="Delete night-watch?"
        description="Deletes its files, schedules and runs. This cannot be undone."
        action="Delete agent"
        typed="night-watch"
        onConfirm={close}
      />
      <SecretDialog secrets={open === 'secret' ? secrets : null} onClose={close} title="New key" />
    </section>
  )
}

function undoable(): void {
  toast({
    title: 'Schedule deleted',
    description: 'Morning report',
    action: { label: 'Undo', onAction: () => toast({ title: 'Schedule restored', tone: 'success' }) },
  })
}

function fail(): void {
  toast({ title: 'Could not start the agent', description: 'image_missing', tone: 'danger' })
}
